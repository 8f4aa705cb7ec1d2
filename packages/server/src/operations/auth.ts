import { ApiError, type Operations } from '@plenum/protocol'
import { refuseBackendUserId } from '../access/backend-users.ts'
import { normalizeEmail } from '../access/domains/emails.ts'
import { signPermissions } from '../access/provider/signature.ts'
import type { Handlers } from '../calls/call.ts'
import { readGrants, type ResourceGrant } from './shared/permission-resources.ts'

export const authHandlers: Handlers<Operations['auth']> = {
  async generateToken({ input, caller: { apiKey }, now, services: { userTokens } }) {
    refuseBackendUserId(input.userId)
    const userProperties = claims(input.userProperties)
    const resources = readGrants(input.permissions.resources).map(toClaim)
    const user = { apiKey, userId: input.userId, userProperties, permissions: { resources } }
    return { token: await userTokens.sign(user, now) }
  },

  async getToken({ input, caller: { apiKey }, now, services: { userTokens } }) {
    refuseBackendUserId(input.userId)
    const userProperties = claims(input.userProperties)
    const resources = [
      {
        type: 'organization',
        id: input.userProperties.organizationId,
        accessRole: 'editor',
        isDefaultRole: true,
      },
    ]
    const user = { apiKey, userId: input.userId, userProperties, permissions: { resources } }
    return { token: await userTokens.sign(user, now) }
  },

  async generateSignature({ input, caller: { apiKey }, services: { secrets } }) {
    return { signature: signPermissions(secrets.permissionSignatureKey(apiKey), input.permissions) }
  },
}

/** The properties of the user as the token carries them. The organization is in the token's permissions instead (spec 7.1). */
function claims({
  organizationId: _organizationId,
  ...properties
}: Record<string, unknown> & { email?: string }) {
  const { email } = properties
  if (email === undefined) return { isAdmin: false, ...properties }
  if (normalizeEmail(email) === null) {
    throw new ApiError('INVALID_ARGUMENT', 'userProperties.email must be a valid email address.')
  }
  return { isAdmin: false, ...properties, email: email.trim() }
}

const toClaim = ({
  level: { type, id, organizationId },
  accessRole,
  hasDefaultRole,
  expiresAt,
}: ResourceGrant) => ({
  type,
  id,
  ...(type !== 'organization' && { organizationId }),
  accessRole,
  ...(hasDefaultRole && { isDefaultRole: true }),
  ...(expiresAt !== null && { expiresAt }),
})
