import { describe, expect, test } from 'vitest'
import { decodeSeq } from '../../peers/hints.ts'
import { addressOf, Peers } from '../../peers/peers.ts'
import { SharedLists } from '../../peers/shared-lists.ts'
import { systemClock } from '../../platform/clock.ts'
import { createMemoryLinks } from '../../platform/server-link/memory-link.ts'
import { BytePace } from '../../platform/turns/byte-pace.ts'
import { eventually } from '../../../test/support/clients/convergence.ts'
import { type AwarenessEntry, readAwareness, writeAwareness } from './awareness/awareness-update.ts'
import { ReservedClientIds } from './awareness/reserved-client-ids.ts'
import { EditorRelay } from './editor-relay.ts'
import type { Member } from './member.ts'

const log = { debug() {}, info() {}, warn() {}, error() {} }
const run = (steps: Iterator<unknown>) => {
  while (!steps.next().done);
}

const address = addressOf('k1', 'o1', 'd1', 'e1')

/** One editor on two servers, with a member on each that receives the states. */
async function createScene() {
  const createLink = createMemoryLinks()
  const owners = new Map<number, string>()
  const start = (newestSeq: number) => {
    const peers = new Peers({ link: createLink(), log })
    const members = new Set<Member>()
    const relay = new EditorRelay({
      address,
      newestSeq: () => newestSeq,
      members,
      ownerOf: (clientId) => owners.get(clientId),
      sharedLists: new SharedLists({ peers, clock: systemClock, log }),
      reservedClientIds: new ReservedClientIds(),
      run,
    })
    peers.start()
    const received: AwarenessEntry[] = []
    const newestOfOthers: number[] = []
    peers.listen('editor', address, (body) => newestOfOthers.push(decodeSeq(body)))
    let sessions = 0
    const join = (userId: string, hasWriteRole = true) => {
      const member = {
        sessionId: `${userId} ${sessions++}`,
        userId,
        email: undefined,
        hasWriteRole,
        openedAt: performance.now(),
        pace: new BytePace(32 * 1024),
        codec: { key: 'test', awareness: (update: Uint8Array) => Buffer.from(update) },
        tryReserve: () => true,
        sendAwareness: (frame: Buffer) => {
          const entries = readAwareness(frame, () => true)
          if (userId === 'viewer' && typeof entries === 'object') received.push(...entries)
          return true
        },
      } as unknown as Member
      members.add(member)
      relay.open()
      return {
        set(clientId: number, clock: number, json: string) {
          relay.awareness.receive(member, writeAwareness([{ clientId, clock, json }]))
          relay.broadcastAwareness()
        },
        leave() {
          members.delete(member)
          relay.onLeft(member)
          if (members.size === 0) relay.close()
        },
      }
    }
    const viewer = join('viewer', false)
    return {
      relay,
      join,
      viewer,
      received,
      newestOfOthers,
      seen: () => [...relay.awareness.clientIds].toSorted(),
    }
  }
  const servers = [start(5), start(7)] as const
  await new Promise(setImmediate)
  return { a: servers[0], b: servers[1], owners }
}

describe('[B1.6] rows of an editor on two servers', () => {
  test('[B1.6] servers that learn that both have the editor open tell each other the number of their newest row', async () => {
    const { a, b } = await createScene()
    await eventually(() => [a.newestOfOthers, b.newestOfOthers]).toEqual([[7], [5]])
    b.viewer.leave()
    b.join('bob')
    await eventually(() => [a.newestOfOthers, b.newestOfOthers]).toEqual([
      [7, 7],
      [5, 5],
    ])
  })
})

describe('awareness states on two servers', () => {
  test('[B4.4] a client that repeats its state every 15 s is renewed on other servers, where clients would drop it after 30 s', async () => {
    const { a, b } = await createScene()
    const ada = a.join('ada')
    for (const clock of [1, 2, 3]) {
      ada.set(7, clock, '{"cursor":1}')
      await eventually(() => b.received.at(-1)).toEqual({ clientId: 7, clock, json: '{"cursor":1}' })
    }
    ada.leave()
    await eventually(() => b.received.at(-1)).toEqual({ clientId: 7, clock: 3, json: 'null' })
  })

  test('[B4.5] of two sessions with the same Yjs client id and clock the newer one wins on all servers', async () => {
    const { a, b } = await createScene()
    const before = a.join('ada')
    before.set(7, 5, '{"cursor":1}')
    await eventually(() => b.received).toHaveLength(1)
    const after = b.join('ada')
    after.set(7, 5, '{"cursor":1}')
    await eventually(() => a.relay.awareness.ownState(7)).toBeUndefined()
    expect(b.relay.awareness.ownState(7)).toBeDefined()
    before.leave()
    after.set(7, 6, '{"cursor":2}')
    for (const { received } of [a, b]) {
      await eventually(() => received.at(-1)).toEqual({ clientId: 7, clock: 6, json: '{"cursor":2}' })
      expect(received.some(({ json }) => json === 'null')).toBe(false)
    }
    after.leave()
    await eventually(() => [a.seen(), b.seen()]).toEqual([[], []])
  })

  test('[B4.5] a client that moves to a server that did not have the editor open keeps its state', async () => {
    const { a, b } = await createScene()
    a.join('ada').set(7, 5, '{"cursor":1}')
    await eventually(() => b.received).toHaveLength(1)
    b.viewer.leave()
    // The server gets the old state after the same state of the new session.
    b.join('ada').set(7, 5, '{"cursor":1}')
    await eventually(() => a.relay.awareness.ownState(7)).toBeUndefined()
    a.join('bob').set(8, 1, '{}')
    await eventually(() => [a.seen(), b.seen()]).toEqual([
      [7, 8],
      [7, 8],
    ])
    expect(b.relay.awareness.ownState(7)).toBeDefined()
  })

  test('[B4.5] [R31.1] a state of another server is refused for an id that another user owns, and removed when the id gets an owner', async () => {
    const { a, b, owners } = await createScene()
    const eve = a.join('eve')
    eve.set(7, 1, '{}')
    await eventually(b.seen).toEqual([7])
    b.relay.awareness.onOwned(7, 'ada')
    expect(b.seen()).toEqual([])
    owners.set(7, 'ada')
    b.join('ada').set(7, 1, '{"user":"ada"}')
    b.join('bob').set(8, 1, '{}')
    await eventually(a.seen).toEqual([7, 8])
    expect(a.relay.awareness.ownState(7)).toBeUndefined()
    expect(b.relay.awareness.ownState(7)?.owner.userId).toBe('ada')
  })

  test('[B4.3] [B4.4] the last member of a server forgets the states of others, and gets them again', async () => {
    const { a, b } = await createScene()
    a.join('ada').set(7, 1, '{}')
    const bob = b.join('bob')
    bob.set(8, 1, '{}')
    await eventually(() => [a.seen(), b.seen()]).toEqual([
      [7, 8],
      [7, 8],
    ])
    bob.leave()
    await eventually(a.seen).toEqual([7])
    expect(b.seen()).toEqual([7])
  })
})
