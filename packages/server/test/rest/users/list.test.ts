import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'

const organizationId = 'org_1'
const denied = {
  error: { status: 'PERMISSION_DENIED', message: 'User does not have access to organization' },
}

describe.each(stores)('users.list on %s', (store) => {
  const server = useServer(store)

  const call = async (token: string, input: object = {}) =>
    (
      await server.post(
        '/v2/users/list',
        { data: { organizationId, ...input } },
        { authorization: `Bearer ${token}` },
      )
    ).body
  const idsFor = async (token: string, input: object = {}) => {
    const ids: string[] = []
    for (let pageToken: string | undefined; ;) {
      const { result } = await call(token, { ...input, ...(pageToken && { pageToken }) })
      const { data, nextPageToken } = result as { data: { userId: string }[]; nextPageToken?: string }
      ids.push(...data.map(({ userId }) => userId))
      if (nextPageToken === undefined) return ids
      pageToken = nextPageToken
    }
  }

  /** People of `org_1` with grants on all levels, others who are not, and people of `org_2`. */
  async function scene() {
    const tenant = await given.tenant(server)
    const { client } = tenant
    await given.document(tenant)
    await client.users.add({
      organizationId,
      users: [
        {
          userId: 'ada',
          name: 'Ada',
          email: 'ada@example.com',
          photoUrl: 'https://x.test/a.png',
          plan: 'pro',
        },
      ],
    })
    await given.users(tenant, ['inFolder'], { folderId: 'f1' })
    await given.users(tenant, ['inDocument'], { documentId: 'doc_1' })
    await given.users(tenant, ['gone', 'ended'])
    await client.users.delete({ organizationId, userIds: ['gone'] })
    await client.permissions.add({
      userId: 'ended',
      permissions: { resources: [{ type: 'organization', id: organizationId, expiresAt: 1 }] },
    })
    await given.users(tenant, ['stranger'], { organizationId: 'org_2' })
    await client.commentAnnotations.add({
      organizationId,
      documentId: 'doc_1',
      commentAnnotations: [{ commentData: [{ commentText: 'Hello', from: { userId: 'commenter' } }] }],
    })
    const people = ['ada', 'commenter', 'inDocument', 'inFolder']
    return { ...tenant, people }
  }

  test('[12.5] the people of an organization are those with a grant in it or a part in a thread, in pages', async () => {
    const tenant = await scene()
    const token = await tokenFor(tenant, 'ada')
    expect(await idsFor(token)).toEqual(tenant.people)
    expect(await idsFor(token, { pageSize: 1 })).toEqual(tenant.people)
    const userIds = ['inFolder', 'stranger', 'nobody', 'gone', 'ada']
    expect(await idsFor(token, { userIds })).toEqual(['ada', 'inFolder'])
    expect((await tenant.client.users.list({ organizationId })).data.map(({ userId }) => userId)).toEqual(
      tenant.people,
    )
  })

  test('[12.5] a person is shown with name and picture, but without the email address and other fields', async () => {
    const tenant = await scene()
    const { result } = await call(await tokenFor(tenant, 'ada'), { userIds: ['ada'] })
    expect(result).toMatchObject({
      data: [
        {
          userId: 'ada',
          name: expect.any(String),
          photoUrl: 'https://x.test/a.png',
          initial: expect.any(String),
          color: expect.stringMatching(/^#/),
        },
      ],
    })
    expect(JSON.stringify(result)).not.toMatch(/example\.com|pro"/)
  })

  test('[12.5] only users who belong to the organization see its people', async () => {
    const tenant = await scene()
    for (const userId of tenant.people.filter((userId) => userId !== 'commenter')) {
      const token = await tokenFor(tenant, userId, { resources: [] })
      expect(await idsFor(token)).toEqual(tenant.people)
    }
    await tenant.client.apiKeyConfig.update({ requireAutoOrgUser: false })
    const document = { type: 'document', id: 'doc_1', organizationId } as const
    expect(await idsFor(await tokenFor(tenant, 'guest', { resources: [document] }))).toEqual(tenant.people)
    // Everybody may comment on a public document.
    for (const userId of ['stranger', 'nobody', 'gone', 'ended', 'commenter'])
      expect(await call(await tokenFor(tenant, userId, { resources: [] }))).toMatchObject(denied)
    const token = await tokenFor(tenant, 'ada')
    expect(await call(token, { organizationId: 'org_2' })).toMatchObject(denied)
    await tenant.client.organizations.updateDisableState({
      organizationIds: [organizationId],
      disabled: true,
    })
    expect(await call(token)).toMatchObject({ error: { status: 'PERMISSION_DENIED' } })
  })
})
