import { describe, expect, test } from 'vitest'
import { expectShortIterations } from '../../support/measures/loop-work.ts'
import * as given from '../../support/given.ts'
import { anyStore, useServer } from '../../support/harness.ts'
import { eventually, synced } from '../../support/clients/convergence.ts'
import { hocuspocusClient, hocuspocusSocket } from '../../support/clients/hocuspocus-client.ts'
import { editorName } from '../../support/clients/open-clients.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'

describe('stateless messages of Hocuspocus providers', () => {
  const server = useServer(anyStore, { isOwn: true })

  /** Opens an editor and collects the stateless messages that arrive there. */
  async function scene() {
    const tenant = await given.tenant(server)
    return async (userId: string, options: { role?: 'viewer' | 'editor'; name?: string } = {}) => {
      const { role, name = editorName } = options
      const received: string[] = []
      const client = hocuspocusClient(server, await tokenFor(tenant, userId, role && { role }), {
        name,
        onStateless: ({ payload }) => received.push(payload),
      })
      await synced(client)
      return { ...client, received, send: (payload: string) => client.provider.sendStateless(payload) }
    }
  }
  const refusals = (received: readonly string[]) => received.map((payload) => JSON.parse(payload).error)

  test('[R47] [R47.1] only other connected providers of the same editor, including viewers, receive stateless messages, in order', async () => {
    const open = await scene()
    const [ada, bob] = [await open('ada'), await open('bob')]
    const viewer = await open('vic', { role: 'viewer' })
    const others = [
      await open('oto', { name: 'org_1/doc_1/other' }),
      await open('eve', { name: 'org_1/doc_2/note' }),
    ]
    for (const payload of ['one', '', 'drei 🙂']) ada.send(payload)
    for (const { received } of [bob, viewer]) await eventually(() => received).toEqual(['one', '', 'drei 🙂'])
    bob.send('back')
    await eventually(() => ada.received).toEqual(['back'])
    for (const other of others) {
      other.send('to nobody')
      expect(other.received).toEqual([])
    }
    const late = await open('late')
    ada.send('last')
    await eventually(() => late.received).toEqual(['last'])
    expect(ada.received).toEqual(['back'])
  })

  test('[R47] a provider receives the stateless messages of another provider on the same socket', async () => {
    const tenant = await given.tenant(server)
    const token = await tokenFor(tenant)
    const socket = hocuspocusSocket(server)
    const received: string[][] = [[], []]
    const [first, second] = received.map((list) =>
      hocuspocusClient(server, token, {
        socket,
        sessionAwareness: true,
        onStateless: ({ payload }) => list.push(payload),
      }),
    )
    if (first && second) await synced(first, second)
    first?.provider.sendStateless('hello')
    await eventually(() => received).toEqual([[], ['hello']])
  })

  test('[R47.3] [R47.4] a stateless message of a viewer is refused with a reason, and the viewer keeps reading', async () => {
    const open = await scene()
    const ada = await open('ada')
    const viewer = await open('vic', { role: 'viewer' })
    viewer.send('forged')
    await eventually(() => refusals(viewer.received)).toEqual([
      {
        status: 'PERMISSION_DENIED',
        message: 'The user may read this document, but not send stateless messages.',
      },
    ])
    ada.text.insert(0, 'Hello')
    await eventually(() => viewer.text.toString()).toBe('Hello')
    expect(ada.received).toEqual([])
    expect(viewer.provider.isAuthenticated).toBe(true)
  })

  test('[R47.2] [R47.4] a stateless message above 16 KiB is refused with a reason, and editing continues', async () => {
    const open = await scene()
    const [ada, bob] = [await open('ada'), await open('bob')]
    ada.send('x'.repeat(16 * 1024 + 1))
    ada.send('x'.repeat(16 * 1024))
    await eventually(() => bob.received.map(({ length }) => length)).toEqual([16 * 1024])
    const message = 'A stateless message has at most 16 KiB.'
    await eventually(() => refusals(ada.received)).toEqual([{ status: 'INVALID_ARGUMENT', message }])
    ada.text.insert(0, 'Hello')
    await eventually(() => bob.text.toString()).toBe('Hello')
  })

  test('[R47.2] [R47.4] a client that sends stateless messages too fast gets few errors, some of its messages are dropped, and later ones arrive', async () => {
    const open = await scene()
    const [ada, bob] = [await open('ada'), await open('bob')]
    for (let sent = 0; sent < 500; sent++) ada.send(`${sent}`)
    ada.text.insert(0, 'end')
    await eventually(() => bob.text.toString()).toBe('end')
    await eventually(() => refusals(ada.received)[0]).toEqual({
      status: 'RESOURCE_EXHAUSTED',
      message:
        'A connection sends at most 32 KiB of stateless messages a second. Further messages are dropped.',
    })
    // Each message counts as 256 bytes.
    await eventually(() => bob.received.length).toBeGreaterThanOrEqual(128)
    expect(bob.received.length).toBeLessThan(500)
    // The sender does not get an error for each dropped message. The slower the machine, the more often some are relayed.
    expect(ada.received.length).toBeLessThan((500 - bob.received.length) / 4)
    expect(bob.received).toEqual(bob.received.toSorted((a, b) => Number(a) - Number(b)))
    const before = bob.received.length
    await eventually(() => {
      ada.send('again')
      return bob.received.length
    }).toBeGreaterThan(before)
  })

  test('[R47] [S2] many stateless messages to many clients neither delay another document nor block the event loop', async () => {
    const open = await scene()
    const users = await Promise.all(Array.from({ length: 24 }, (_, user) => open(`u${user}`)))
    const other = { name: 'org_1/doc_2/note' }
    const [typing, reading] = [await open('ada', other), await open('bob', other)]
    const payload = 'x'.repeat(8_000)
    await expectShortIterations(async () => {
      for (const { send } of users) for (let sent = 0; sent < 4; sent++) send(payload)
      for (let typed = 1; typed <= 5; typed++) {
        typing.text.insert(0, 'x')
        await eventually(() => reading.text.length).toBe(typed)
      }
      const arrived = () => users.reduce((sum, { received }) => sum + received.length, 0)
      await eventually(arrived).toBe(24 * 23 * 4)
    })
  }, 60_000)
})
