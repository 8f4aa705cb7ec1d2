import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@plenum/client'
import { afterAll, expect, test } from 'vitest'
import * as given from '../support/given.ts'
import { secretKey, startServer } from '../support/harness.ts'
import { startProcess } from '../support/processes/process.ts'
import { startWith } from '../support/processes/settings.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'plenum-killed-erasure-'))
const env = { DATA_DIR: dataDir, SECRET_KEY: secretKey }
afterAll(() => rmSync(dataDir, { recursive: true, force: true }))

test(
  '[14.2.5] [P1] an erasure whose server is killed in the middle is finished by the next start',
  { retry: 0 },
  async () => {
    const organizationId = 'org_1'
    const ref = { organizationId, documentId: 'doc_1' }
    const server = await startServer('sqlite', { data: { dataDir, databaseUrl: undefined } })
    const tenant = await given.tenant(server)
    await given.document(tenant)
    for (let from = 0; from < 3000; from += 250) {
      await tenant.client.commentAnnotations.add({
        ...ref,
        commentAnnotations: Array.from({ length: 250 }, (_, index) => ({
          annotationId: `a${from + index}`,
          commentData: [{ commentText: 'x', from: { userId: 'ada' } }],
        })),
      })
    }
    await server.server.stop()
    await server.database.close()
    const credentials = { apiKey: tenant.apiKey, authToken: tenant.authToken, retries: 0 }

    const victim = await startProcess('server', env)
    const client = createClient({ url: victim.url, ...credentials })
    const left = async (of: typeof client) =>
      ((await of.commentAnnotations.get({ ...ref, pageSize: 1000 })).data as unknown[]).length
    const { data } = await client.userData.delete({ userIds: ['ada'] })
    await expect.poll(() => left(client), { interval: 1, timeout: 60_000 }).toBeLessThan(1000)
    await victim.kill()

    const next = await startWith(env)
    const reader = createClient({ url: next.url, ...credentials })
    const status = async () => (await reader.userData.deleteStatus(data)).data
    await expect.poll(async () => (await status()).isDeleteCompleted, { timeout: 60_000 }).toBe(true)
    expect(await left(reader)).toBe(0)
    expect((await reader.users.get({ organizationId })).data).toEqual([])
    await next.end()
  },
)
