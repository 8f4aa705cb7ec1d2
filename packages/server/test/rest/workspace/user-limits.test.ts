import { describe, expect, test } from 'vitest'
import { tokenFor } from '../../support/access/user-tokens.ts'
import { RealtimeSocket } from '../../support/clients/realtime-socket.ts'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'

const place = { organizationId: 'org_1', documentId: 'doc_1' }
const message = 'A user may send 3 requests a minute (LIMIT_USER_REQUESTS_PER_MINUTE).'

describe.each(stores)('the limit of a user on %s', (store) => {
  const server = useServer(store, { env: { LIMIT_USER_REQUESTS_PER_MINUTE: '3' } })

  test('[0.7.13] counts the calls with tokens of the user, over REST and on sockets, and no other calls', async () => {
    const tenant = await given.tenant(server)
    const other = await given.tenant(server)
    for (const one of [tenant, other]) await given.document(one, 'doc_1')
    const [token, second, ofBob] = await Promise.all(
      ['ada', 'ada', 'bob'].map((userId) => tokenFor(tenant, userId)),
    )
    const [ada, again, bob] = [token, second, ofBob].map((one) => server.client({ token: one! }))
    const socket = await RealtimeSocket.connect(server, token!)
    await ada!.commentAnnotations.get(place)
    await again!.commentAnnotations.get(place)
    const call = (id: number) =>
      socket.send({ type: 'call', id, operation: 'commentAnnotations.get', input: place })
    call(1)
    await expect.poll(() => socket.messages.some(({ type }) => type === 'done')).toBe(true)

    await expect(ada!.commentAnnotations.get(place)).rejects.toMatchObject({
      status: 'RESOURCE_EXHAUSTED',
      message,
      retryAfterSeconds: expect.toSatisfy((seconds: number) => seconds > 0 && seconds <= 60),
    })
    call(2)
    await expect
      .poll(() => socket.messages.find(({ type }) => type === 'error'))
      .toMatchObject({ id: 2, status: 'RESOURCE_EXHAUSTED', message })
    await bob!.commentAnnotations.get(place)
    for (let count = 0; count < 4; count++) await tenant.client.commentAnnotations.get(place)
    const namesake = server.client({ token: await tokenFor(other, 'ada') })
    await namesake.commentAnnotations.get(place)
  })
})
