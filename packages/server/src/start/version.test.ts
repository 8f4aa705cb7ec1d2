import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { version } from './version.ts'

test('[0.1.7] the version constant is the version in the package.json of the server', () => {
  const { version: packaged } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  ) as {
    version: string
  }
  expect(version).toBe(packaged)
})
