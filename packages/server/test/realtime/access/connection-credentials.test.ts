import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'
import { editorName } from '../../support/clients/open-clients.ts'
import { RawSocket } from '../../support/clients/raw-socket.ts'
import { signToken } from '../../support/access/token-scenes.ts'

describe.each(stores)('connection credentials on %s', (store) => {
  const server = useServer(store)
  test.each(['server', 'rest-api'])(
    '[R30] a token with the user id %s opens no connection, but operations accept that user id',
    async (userId) => {
      const tenant = await given.tenant(server)
      const { apiKey, client } = tenant
      const permissions = { resources: [{ type: 'organization', id: 'org_1', accessRole: 'editor' }] }
      // An earlier version of the server would have issued this token.
      const token = await signToken(server, { apiKey, userId, userProperties: {}, permissions })
      const close = { code: 4401, reason: expect.stringContaining('token_invalid') }
      for (const path of [`/yjs/${editorName}`, '/realtime']) {
        expect(await new RawSocket(server, `${path}?token=${token}`).closed).toEqual(close)
      }
      const { data } = await client.users.add({
        organizationId: 'org_1',
        createOrganization: true,
        users: [{ userId }],
      })
      expect(data).toMatchObject({ [userId]: { success: true } })
    },
  )
})
