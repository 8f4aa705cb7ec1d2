import { describe, expect, test } from 'vitest'
import { folderScene, grant, organization } from '../../test/support/access/permission-scenes.ts'
import { stores, useServer } from '../../test/support/harness.ts'
import { loadSubjects } from './subjects.ts'

describe.each(stores)('loading subjects on %s', (store) => {
  const server = useServer(store)

  test('[S5.2] the server loads the grants of more users at once than fit into one query', async () => {
    const { client, apiKey } = await folderScene(server)
    await grant(client, 'u5999', { ...organization, accessRole: 'viewer' })
    const options = { ...(await client.apiKeyConfig.get()).data, enablePrivateComments: false }
    const userIds = Array.from({ length: 6000 }, (_, n) => `u${n}`)
    const subjects = await loadSubjects(server.database.read, { apiKey, options }, 'o1', userIds, {})
    expect(subjects?.organization('u5999').organization.grant).toMatchObject({ accessRole: 'viewer' })
    expect(subjects?.organization('u0').organization.grant).toBeUndefined()
  })
})
