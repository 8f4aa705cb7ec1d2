import { readFileSync } from 'node:fs'
import { recordedNames } from '@plenum/protocol'
import { describe, expect, test } from 'vitest'
import { RealtimeSocket } from '../../support/clients/realtime-socket.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'
import { startServer, stores, useServer } from '../../support/harness.ts'
import { comment, commentCalls, ref } from '../comments/calls.ts'

const guide = readFileSync(new URL('../../../../../docs/guides/events.md', import.meta.url), 'utf8')
const [, code = ''] = /```ts\n([\s\S]*?)```/.exec(guide) ?? []
const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor as new (
  ...text: string[]
) => (...values: unknown[]) => Promise<void>
const loopOfGuide = new AsyncFunction('client', 'loadPosition', 'handle', 'savePosition', code)

test('[27.1] each name in the guide is the name of an event', () => {
  const names = Array.from(guide.matchAll(/^\| `([a-z_]+\.[a-z_]+)`/gm), ([, name]) => name)
  expect(names).toHaveLength(17)
  expect(recordedNames).toEqual(expect.arrayContaining(names))
})

describe.each(stores)('readers who wait for events on %s', (store) => {
  const server = useServer(store, { isOwn: true })
  const { tenantWithDocument } = commentCalls(server)

  test('[27.1.10] a reader who waits gets the next event as soon as it happened, and no event twice', async () => {
    const { client, add, reply, events } = await tenantWithDocument()
    await add('a1')
    await events(1)
    const { after } = (await client.events.get({})).data
    const readers = [0, 1, 2].map(() => client.events.get({ after, wait: 20 }))
    await reply('a1', comment('x'))
    for (const { data } of await Promise.all(readers)) {
      expect(data.events.map(({ name }) => name)).toEqual(['comment.add'])
    }
    // What is there is answered at once, whatever the wait.
    expect((await client.events.get({ after, wait: 20 })).data.events).toHaveLength(1)
  })

  test('[27.1.10] a reader who waits for certain events is not answered by others, and gets an empty answer after its time', async () => {
    const { client, add, reply, events } = await tenantWithDocument()
    await add('a1')
    await events(1)
    const { after } = (await client.events.get({})).data
    const deleted = client.events.get({ after, wait: 20, names: ['comment.delete'] })
    const none = client.events.get({ after, wait: 1, names: ['comment_annotation.delete'] })
    await reply('a1', comment('x', { commentId: 5 }))
    const { data } = await none
    expect(data).toMatchObject({ events: [], hasMore: false })
    await client.comments.delete({ ...ref, annotationId: 'a1', commentIds: [5] })
    expect((await deleted).data.events.map(({ name }) => name)).toEqual(['comment.delete'])
    const names: ['comment.delete'] = ['comment.delete']
    expect((await client.events.get({ after: data.after, names })).data.events).toHaveLength(1)
  })

  test('[27.1.10] the loop of the guide handles each event once, also after it was interrupted', async () => {
    const { client, add, reply } = await tenantWithDocument()
    const handled: string[] = []
    let stored: string | undefined
    const interrupted = new Error('interrupted')
    const runUntil = (name: string) =>
      loopOfGuide(
        client,
        async () => stored,
        async (event: { name: string }) => void handled.push(event.name),
        async (position: string) => {
          stored = position
          if (handled.includes(name)) throw interrupted
        },
      ).catch((error: unknown) => expect(error).toBe(interrupted))
    const first = runUntil('comment_annotation.add')
    await add('a1')
    await first
    const second = runUntil('comment_annotation.delete')
    await reply('a1', comment('x'))
    await client.commentAnnotations.delete(ref)
    await second
    const { data } = await client.events.get({})
    expect(handled).toEqual(data.events.map(({ name }) => name))
  })

  test('[27.1.10] users do not wait', async () => {
    const tenant = await tenantWithDocument()
    const user = server.client({ apiKey: tenant.apiKey, token: await tokenFor(tenant) })
    await expect(user.events.get({ ...ref, wait: 1 })).rejects.toMatchObject({
      status: 'INVALID_ARGUMENT',
      message: 'wait is for backends.',
    })
  })

  test('[27.1.10] a server that stops answers the readers who wait', async () => {
    const stopping = await startServer(store)
    const { tenantWithDocument: tenantOf } = commentCalls(stopping)
    const { apiKey, authToken } = await tenantOf()
    const client = stopping.client({ apiKey, authToken, retries: 0 })
    await client.events.get({})
    const waiting = client.events.get({ wait: 20 })
    // The server has got the first call before this one.
    await client.events.get({})
    const headers = { 'x-svc-api-key': apiKey, 'x-svc-auth-token': authToken }
    const socket = new RealtimeSocket(stopping, { headers })
    await socket.connected()
    await socket.take('ready')
    const onSocket = socket.call('events.get', { wait: 20 })
    await socket.call('events.get', {})
    const startedAt = performance.now()
    const [{ data }, answer] = await Promise.all([waiting, onSocket, stopping.stop()])
    expect(data.events).toEqual([])
    expect(answer).toMatchObject({ type: 'done' })
    expect(performance.now() - startedAt).toBeLessThan(15_000)
  })
})
