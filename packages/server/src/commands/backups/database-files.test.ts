import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { newFolder } from '../../../test/support/data/folders.ts'
import { unusedName } from './database-files.ts'

test('[D3.1] [D7.2] files of commands that run within one second have different names', () => {
  const folder = newFolder()
  vi.useFakeTimers({ now: Date.UTC(2026, 10, 18, 5, 43, 10), toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const names = Array.from({ length: 3 }, () => {
    const name = unusedName(join(folder, 'plenum-'), '.db')
    writeFileSync(name, '')
    return name.slice(folder.length + 1)
  })
  expect(names).toEqual([
    'plenum-20261118T054310.db',
    'plenum-20261118T054310-2.db',
    'plenum-20261118T054310-3.db',
  ])
})
