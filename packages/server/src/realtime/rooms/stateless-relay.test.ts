import { expect, test } from 'vitest'
import type { Member } from './member.ts'
import { StatelessRelay, type StatelessRefusal } from './stateless-relay.ts'

test('[R47.5] at most 4,096 empty messages wait in a relay, and further ones are refused', () => {
  const relay = new StatelessRelay(new Set(), () => {})
  const refusals: StatelessRefusal[] = []
  const from = { canWriteNow: true } as Member
  for (let sent = 0; sent < 5_000; sent++) {
    relay.send(from, new Uint8Array(), (refusal) => refusals.push(refusal))
  }
  expect(refusals).toHaveLength(5_000 - 4_096)
  expect(refusals[0]?.status).toBe('RESOURCE_EXHAUSTED')
})
