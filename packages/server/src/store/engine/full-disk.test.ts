import { expect, test } from 'vitest'
import { SteppedClock } from '../../../test/support/clock.ts'
import { FullDisk } from './full-disk.ts'

test('[P5] a full disk is reported for a minute after the last write that it refused', () => {
  const clock = new SteppedClock()
  const disk = new FullDisk(clock)
  disk.onFailed({ errcode: 5 })
  disk.onFailed({ code: '40001' })
  expect(disk.isFull).toBe(false)
  for (const error of [{ errcode: 13 }, { code: '53100' }]) {
    disk.onFailed(error)
    clock.step(59_999)
    expect(disk.isFull).toBe(true)
    clock.step(1)
    expect(disk.isFull).toBe(false)
  }
})
