/** What the bus says after a user has become a member of organizations by signing in with a token. */
export function membershipMessages(
  apiKey: string,
  { userId, resources }: { userId: string; resources: readonly { organizationId: string }[] },
) {
  const organizationIds = [...new Set(resources.map(({ organizationId }) => organizationId))]
  return [
    { kind: 'access' as const, apiKey, userIds: [userId] },
    { kind: 'people' as const, apiKey, organizationIds, userIds: [userId] },
  ]
}
