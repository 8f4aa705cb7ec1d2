import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Receipts } from './receipts.ts'

describe('[R10.6] receipts', () => {
  test('[R10.6] a saved update is acknowledged once all updates before it are saved or refused', () => {
    const receipts = new Receipts()
    for (const number of [1, 2, 5, 9]) expect(receipts.expect(number)).toBe(true)
    receipts.settle(2, 'saved')
    expect(receipts.takeSaved()).toBeUndefined()
    receipts.settle(1, 'saved')
    expect(receipts.takeSaved()).toBe(2)
    expect(receipts.takeSaved()).toBeUndefined()
    receipts.settle(9, 'saved')
    receipts.settle(5, 'refused')
    expect(receipts.takeSaved()).toBe(9)
  })

  test('[R10.6] an update whose number does not increase is rejected', () => {
    const receipts = new Receipts()
    expect(receipts.expect(0)).toBe(true)
    expect(receipts.expect(0)).toBe(false)
    expect(receipts.expect(7)).toBe(true)
    expect(receipts.expect(6)).toBe(false)
  })

  test('[R10.6] a saved update is acknowledged only after all updates before it are settled, and the last saved update is acknowledged in the end', () => {
    const settlings = fc
      .uniqueArray(fc.nat(30), { minLength: 1, maxLength: 20 })
      .chain((numbers) =>
        fc.tuple(
          fc.constant([...numbers].sort((a, b) => a - b)),
          fc.shuffledSubarray(numbers, { minLength: numbers.length }),
          fc.array(fc.boolean(), { minLength: numbers.length, maxLength: numbers.length }),
        ),
      )
    fc.assert(
      fc.property(settlings, ([numbers, order, areSaved]) => {
        const receipts = new Receipts()
        for (const number of numbers) receipts.expect(number)
        const settled = new Map<number, boolean>()
        let newest = -1
        for (const [index, number] of order.entries()) {
          const isSaved = areSaved[index] as boolean
          settled.set(number, isSaved)
          receipts.settle(number, isSaved ? 'saved' : 'refused')
          const saved = receipts.takeSaved()
          if (saved === undefined) continue
          expect(saved).toBeGreaterThan(newest)
          expect(settled.get(saved)).toBe(true)
          for (const before of numbers) if (before < saved) expect(settled.has(before)).toBe(true)
          newest = saved
        }
        const lastSaved = numbers.filter((number) => settled.get(number)).at(-1)
        expect(newest).toBe(lastSaved ?? -1)
      }),
    )
  })
})
