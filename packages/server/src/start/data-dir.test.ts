import { chmodSync, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newFolder } from '../../test/support/data/folders.ts'
import { prepareDataDir } from './data-dir.ts'

test('[C1] prepareDataDir refuses a folder without write permission, and leaves no file in the folder that it creates', () => {
  const folder = newFolder()
  prepareDataDir(join(folder, 'a/b'))
  expect(readdirSync(join(folder, 'a/b'))).toEqual([])

  const closed = join(folder, 'closed')
  mkdirSync(closed)
  chmodSync(closed, 0o500)
  chmodSync(folder, 0o755)
  // Root may write everywhere.
  const isRoot = process.getuid?.() === 0
  if (isRoot) process.seteuid?.(65_534)
  try {
    for (const path of [closed, join(closed, 'below')]) {
      expect(() => prepareDataDir(path)).toThrow(
        `DATA_DIR must be a folder that can be written, but ${path} is not: the user of the server has no permission (EACCES).`,
      )
    }
  } finally {
    if (isRoot) process.seteuid?.(0)
  }
  expect(existsSync(join(closed, 'below'))).toBe(false)
})
