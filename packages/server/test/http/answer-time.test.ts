import { once } from 'node:events'
import { request } from 'node:http'
import type { Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import * as given from '../support/given.ts'
import { anyStore, stores, type TestServer, useServer } from '../support/harness.ts'
import { RealtimeSocket } from '../support/clients/realtime-socket.ts'
import { commentData, documentRef, sceneWithText } from '../support/data/range-scenes.ts'
import { tokenFor } from '../support/access/user-tokens.ts'

const tooLate = {
  status: 'DEADLINE_EXCEEDED',
  message:
    'The call took longer than 50 s. A write may or may not have been applied: send it again with the same Idempotency-Key.',
}
const operation = 'commentAnnotations.add'
const input = {
  ...documentRef,
  commentAnnotations: [{ commentData, targetEditor: { editorId: 'note', anchor: 4, head: 9 } }],
}

/** 50 s take 1 s for the calls that begin now, and not for others: on a busy machine they may take longer. */
const hurry = (server: TestServer) => void (server.clock.timerSpeed = 50)
const stopHurry = (server: TestServer) => void (server.clock.timerSpeed = undefined)

describe.each(stores)('a call that takes long on %s', (store) => {
  let held: { began: () => void; until: Promise<void> } | undefined
  const server = useServer(store, {
    beforeThreadWork: () => {
      held?.began()
      return held?.until ?? Promise.resolve()
    },
  })

  /** Holds up the work of calls. */
  function hold() {
    let release = () => {}
    let began = () => {}
    const hasBegun = new Promise<void>((resolve) => (began = resolve))
    held = { began, until: new Promise((resolve) => (release = resolve)) }
    const end = () => {
      held = undefined
      release()
    }
    onTestFinished(end)
    return { hasBegun, release: end }
  }

  async function scene() {
    const tenant = await sceneWithText(server)
    const headers = { ...tenant.headers, 'idempotency-key': 'once' }
    const call = () => server.post('/v2/commentannotations/add', { data: input }, headers)
    /**
     * Checks that the work of the first call ends, and that it has written nothing. While it is in progress, others with the key
     * are refused, and if it had written, its answer would be stored.
     */
    const expectNothingWritten = async () => {
      let answer: Awaited<ReturnType<typeof call>> | undefined
      await expect.poll(async () => (answer = await call()).status).toBe(200)
      expect(answer?.headers.get('idempotent-replayed')).toBeNull()
      expect(await tenant.ranges()).toHaveLength(1)
    }
    return { ...tenant, headers, call, expectNothingWritten }
  }

  test('[O6] [O6.1] a request without an answer after 50 s is answered DEADLINE_EXCEEDED, and its write stops', async () => {
    const { call, expectNothingWritten } = await scene()
    const { release } = hold()
    hurry(server)
    const answer = await call()
    stopHurry(server)
    expect(answer).toMatchObject({ status: 504, body: { error: tooLate } })
    expect(answer.headers.get('retry-after')).toBe('1')
    release()
    await expectNothingWritten()
  })

  test('[O6] a call on a socket without an answer after 50 s is answered DEADLINE_EXCEEDED, and can be sent again', async () => {
    const tenant = await sceneWithText(server)
    const socket = await RealtimeSocket.connect(server, await tokenFor(tenant))
    const sent = {
      ...input,
      commentAnnotations: [{ ...input.commentAnnotations[0], commentData: [{ commentText: 'x' }] }],
    }
    let id = 0
    const call = async () => {
      socket.send({ type: 'call', id: ++id, operation, input: sent, idempotencyKey: 'once' })
      await expect.poll(() => socket.messages.length).toBe(1)
      return socket.messages.shift()
    }
    const { release } = hold()
    hurry(server)
    expect(await call()).toMatchObject({ type: 'error', id: 1, ...tooLate })
    stopHurry(server)
    release()
    await expect.poll(call).toMatchObject({ type: 'done' })
    expect(await tenant.ranges()).toHaveLength(1)
  })

  test('[O6.1] the write of a caller who has disconnected stops', async () => {
    const { headers, expectNothingWritten } = await scene()
    const { release, hasBegun } = hold()
    const connected = once(server.server.app.server, 'connection') as Promise<[Socket]>
    const sent = request(`${server.url}/v2/commentannotations/add`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      agent: false,
    })
    sent.on('error', () => {})
    sent.end(JSON.stringify({ data: input }))
    const [connection] = await connected
    await hasBegun
    const closed = once(connection, 'close')
    sent.destroy()
    await closed
    release()
    await expectNothingWritten()
  })
})

describe('a write that is combined with others', () => {
  const server = useServer('sqlite', { isOwn: true })

  test.runIf(anyStore === 'sqlite')(
    '[O6.1] a write that waits for its transaction is not run when its caller has got another answer, and others in the transaction are',
    async () => {
      const { client, headers } = await given.tenant(server)
      const organizationId = 'org_1'
      const users = ['ada', 'bob'].map((userId) => ({ userId, name: 'before' }))
      await client.users.add({ organizationId, createOrganization: true, users })
      const rename = (userId: string) =>
        server.post(
          '/v2/users/update',
          { data: { organizationId, users: [{ userId, name: 'after' }] } },
          headers,
        )
      let release = () => {}
      const held = server.database.write(() => new Promise<void>((resolve) => (release = resolve)))
      onTestFinished(() => release())
      hurry(server)
      expect(await rename('ada')).toMatchObject({ status: 504, body: { error: tooLate } })
      stopHurry(server)
      const renamed = rename('bob')
      release()
      await held
      expect((await renamed).status).toBe(200)
      const { data } = await client.users.get({ organizationId, userIds: ['ada', 'bob'] })
      expect(data).toMatchObject([{ name: 'before' }, { name: 'after' }])
    },
  )
})
