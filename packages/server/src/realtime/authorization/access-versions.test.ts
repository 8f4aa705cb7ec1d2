import { expect, test } from 'vitest'
import { AccessVersions } from './access-versions.ts'

test('[R9] the access version of a user increases with every change, even when too many users change to count each of them', () => {
  const versions = new AccessVersions()
  const seen = [versions.of('ada')]
  for (let times = 0; times < 25; times++) {
    versions.bumpUsers(new Set(['ada', ...Array.from({ length: 1_000 }, (_, i) => `${times}_${i}`)]))
    seen.push(versions.of('ada'))
  }
  expect(seen).toEqual([...new Set(seen)].toSorted((a, b) => a - b))
  expect(versions.of('bob')).toBeGreaterThan(0)
})
