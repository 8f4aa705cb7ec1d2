import { expect, test } from 'vitest'
import { AccessEpochs } from './access-epochs.ts'

test('[R9] the epoch of a user never returns to an earlier number, even after more users than are counted changed', () => {
  const epochs = new AccessEpochs()
  const seen = [epochs.of('ada')]
  for (let times = 0; times < 25; times++) {
    epochs.bumpUsers(new Set(['ada', ...Array.from({ length: 1_000 }, (_, i) => `${times}_${i}`)]))
    seen.push(epochs.of('ada'))
  }
  expect(seen).toEqual([...new Set(seen)].toSorted((a, b) => a - b))
  expect(epochs.of('bob')).toBeGreaterThan(0)
})
