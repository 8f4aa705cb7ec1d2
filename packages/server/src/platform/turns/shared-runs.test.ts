import { expect, test } from 'vitest'
import { SharedRuns } from './shared-runs.ts'

test('[A1] callers share the run that begins after their call, and a failed run does not keep the next one from running', async () => {
  const ended: (() => void)[] = []
  let begun = 0
  const runs = new SharedRuns(async () => {
    const number = ++begun
    await new Promise<void>((resolve) => ended.push(resolve))
    if (number === 1) throw new Error('fails')
  })
  const settle = () => new Promise((resolve) => setImmediate(resolve))
  expect(runs.isIdle).toBe(true)
  const first = runs.run()
  await settle()
  const [second, third] = [runs.run(), runs.run()]
  await settle()
  expect(begun).toBe(1)
  expect(runs.isIdle).toBe(false)
  ended.shift()?.()
  await expect(first).rejects.toThrow('fails')
  await settle()
  expect(begun).toBe(2)
  ended.shift()?.()
  await Promise.all([second, third])
  expect(begun).toBe(2)
  expect(runs.isIdle).toBe(true)
})
