import { createHmac, hash } from 'node:crypto'
import { expect, test } from 'vitest'
import { createSecrets } from '../../access/credentials/secrets.ts'
import { createPages } from './page-tokens.ts'

const secrets = createSecrets('a secret that only this test uses')
const filters = { organizationId: 'org_1' }
const row = [1_738_695_077_691, 'document of somebody', 4711]
const pagesFor = (callerScope: string) => {
  const pages = createPages(secrets, callerScope, 'commentAnnotations.get')
  pages.requested(filters)
  return pages
}

test('[0.5] a page token does not show its row, and is valid for the caller and the filters it was made for only', () => {
  const pages = pagesFor('key/ada')
  const pageToken = pages.tokenAfter(row)
  expect(pages.requested({ ...filters, pageToken }).after).toEqual(row)
  const bytes = Buffer.from(pageToken, 'base64url').toString('latin1')
  expect(bytes).not.toMatch(/4711|somebody|1738695077691/)
  const changed = `${pageToken.startsWith('A') ? 'B' : 'A'}${pageToken.slice(1)}`
  for (const refused of [
    () => pagesFor('key/grace').requested({ ...filters, pageToken }),
    () => pages.requested({ organizationId: 'org_2', pageToken }),
    () => pages.requested({ ...filters, pageToken: changed }),
    () => pages.requested({ ...filters, pageToken: 'AAAA' }),
  ]) {
    expect(refused).toThrow('Invalid page token.')
  }
})

test('[0.5] a page token from before tokens were encrypted stays valid', () => {
  const next = JSON.stringify(row)
  const filter = hash('sha256', JSON.stringify(Object.entries(filters)))
  const signature = createHmac('sha256', secrets.pageTokenKey)
    .update(`key/ada\ncommentAnnotations.get\n${filter}\n${next}`)
    .digest()
    .subarray(0, 16)
  const pageToken = Buffer.concat([signature, Buffer.from(next)]).toString('base64url')
  expect(pagesFor('key/ada').requested({ ...filters, pageToken }).after).toEqual(row)
  expect(() => pagesFor('key/grace').requested({ ...filters, pageToken })).toThrow('Invalid page token.')
})
