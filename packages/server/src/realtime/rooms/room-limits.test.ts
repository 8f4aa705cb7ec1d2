import { describe, expect, test } from 'vitest'
import { ClientOwners } from './client-owners.ts'
import { CommittedLog } from './committed-log.ts'
import { RoomLimits } from './room-limits.ts'
import type { Accepted } from '../../crdt/updates/validate-update.ts'

const accepted = (bytes: number, ...clientIds: number[]): Accepted => ({
  update: new Uint8Array(bytes),
  clocks: new Map(),
  hasChanges: true,
  structCount: clientIds.length,
  clients: clientIds,
  changes: [],
})

/** Gives each user that many Yjs client ids, with consecutive numbers from 1. */
function ownersOf(counts: Record<string, number>): ClientOwners {
  const owners = new Map<number, string>()
  for (const [userId, count] of Object.entries(counts)) {
    for (let i = 0; i < count; i++) owners.set(owners.size + 1, userId)
  }
  return new ClientOwners(owners, () => {})
}

describe('the byte limit of an editor', () => {
  function scene(bytes: number) {
    const committed = new CommittedLog(undefined)
    committed.append(1, new Uint8Array(bytes))
    const limits = new RoomLimits(committed, ownersOf({}), 1_000)
    return { committed, limits }
  }

  test('[S6] the byte limit refuses an update that exceeds the limit together with the stored and the waiting bytes', () => {
    const { limits } = scene(800)
    expect(limits.refusal(accepted(100, 1), 100, 'ada')).toBeUndefined()
    expect(limits.refusal(accepted(101, 1), 100, 'ada')).toMatchObject({ code: 'full' })
  })

  test('[S6.2] the byte limit does not apply to deletions', () => {
    const { limits } = scene(5_000)
    expect(limits.refusal(accepted(100), 100, 'ada')).toBeUndefined()
  })

  test('[S6.3] updates that depend on an update that a full editor refused are refused too, until a compaction makes space', () => {
    const { limits, committed } = scene(990)
    const isRefused = (clientId: number) =>
      limits.refusalOfMissing({ code: 'gap', message: '', missing: { client: clientId, clock: 1 } })?.code ===
      'full'
    expect(isRefused(1)).toBe(false)
    limits.refusal(accepted(100, 1), 0, 'ada')
    expect([isRefused(1), isRefused(2)]).toEqual([true, false])
    expect(limits.isNearlyFull).toBe(true)
    committed.replaceWithSnapshot(1, new Uint8Array(950))
    expect([limits.takeFreed(), isRefused(1), limits.isNearlyFull]).toEqual([false, true, false])
    committed.append(2, new Uint8Array(1))
    expect(limits.isNearlyFull).toBe(true)
    committed.replaceWithSnapshot(2, new Uint8Array(10))
    expect([limits.takeFreed(), isRefused(1), limits.isNearlyFull]).toEqual([true, false, false])
    expect(limits.takeFreed()).toBe(false)
  })
})

describe('the Yjs client ids of an editor', () => {
  const limitsFor = (owners: ClientOwners) => new RoomLimits(new CommittedLog(undefined), owners, 1_000)
  const codeFor = (owners: ClientOwners, userId: string, ...clientIds: number[]) =>
    limitsFor(owners).refusal(accepted(1, ...clientIds), 0, userId)?.code ?? 'accepted'
  const newIds = (count: number) => Array.from({ length: count }, (_, i) => 1_000_000 + i)

  test('[S7] an editor refuses new client ids beyond 100,000, and accepts ids that their owner has used before', () => {
    const owners = ownersOf({
      ada: 1,
      ...Object.fromEntries(newIds(99).map((i) => [`u${i}`, 1_000])),
      bob: 998,
    })
    expect(codeFor(owners, 'carol', ...newIds(1))).toBe('accepted')
    expect(codeFor(owners, 'carol', ...newIds(2))).toBe('too_many_ids')
    owners.add(newIds(1), 'carol')
    expect(codeFor(owners, 'carol', ...newIds(1))).toBe('accepted')
    expect(codeFor(owners, 'dave', 2_000_000)).toBe('too_many_ids')
    expect(codeFor(owners, 'ada', 1)).toBe('accepted')
    expect(codeFor(owners, 'ada', 1, 2_000_000)).toBe('too_many_ids')
  })

  test('[S7.1] a user may own at most half as many client ids as are left', () => {
    const owners = ownersOf({ ada: 33_300 })
    expect(codeFor(owners, 'ada', ...newIds(50))).toBe('accepted')
    expect(codeFor(owners, 'ada', ...newIds(51))).toBe('too_many_ids')
    expect(codeFor(owners, 'bob', ...newIds(64))).toBe('accepted')
  })

  test('[S7.1] each user may own 1,000 client ids, as long as some are left', () => {
    const owners = ownersOf({ ada: 50_000, bob: 48_900, carol: 999 })
    expect(codeFor(owners, 'carol', ...newIds(1))).toBe('accepted')
    expect(codeFor(owners, 'carol', ...newIds(2))).toBe('too_many_ids')
    expect(codeFor(owners, 'dave', ...newIds(64))).toBe('accepted')
    expect(codeFor(owners, 'bob', ...newIds(1))).toBe('too_many_ids')
  })

  test('[S7.1] a client id whose update was not stored, or that belongs to another user, does not count for the user', () => {
    const owners = ownersOf({ ada: 33_300 })
    const added = owners.add(newIds(33), 'ada')
    expect(codeFor(owners, 'ada', ...newIds(60))).toBe('too_many_ids')
    owners.remove(added)
    expect(codeFor(owners, 'ada', ...newIds(50))).toBe('accepted')
    // A stored owner replaces the owner that this server assumed.
    owners.override([[1, 'bob']])
    expect(owners.ownerOf(1)).toBe('bob')
    expect(codeFor(owners, 'ada', ...newIds(51))).toBe('accepted')
  })
})
