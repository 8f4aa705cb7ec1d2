import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { version } from '../../start/version.ts'
import { checkNode, minNode } from './machine.ts'

const packages = resolve(import.meta.dirname, '../../../..')

const manifestOf = (name: string) =>
  JSON.parse(readFileSync(join(packages, name, 'package.json'), 'utf8')) as {
    version: string
    engines: { node: string }
    license: string
  }

test('[D6] all packages have the version and the Node version that the server knows', () => {
  for (const name of ['protocol', 'client', 'server']) {
    expect(manifestOf(name)).toMatchObject({
      version,
      engines: { node: `>=${minNode.major}.${minNode.minor}` },
      license: 'Apache-2.0',
    })
  }
})

test('[D5] doctor reports an old Node', () => {
  expect(['20.18.3', '18.20.0', '20.19.0', '24.0.0'].map((version) => checkNode(version).status)).toEqual([
    'failed',
    'failed',
    'ok',
    'ok',
  ])
})
