import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { ApiError, createClient } from '@plenum/client'
import { expect } from 'vitest'
import { newFolder } from '../support/data/folders.ts'
import { createPostgresDatabase, secretKey, type Store } from '../support/harness.ts'
import type { ServerProcess } from '../support/processes/server-process.ts'

/** The settings of servers that run one after the other on the same new database. */
export async function newSettings(store: Store) {
  return {
    DATA_DIR: newFolder(),
    SECRET_KEY: secretKey,
    ...(store === 'postgres' && { DATABASE_URL: await createPostgresDatabase() }),
  }
}

/** Creates a workspace with its first key. The control server answers before it stores them, so this function waits. */
export async function createTenant(url: string): Promise<{ apiKey: string; authToken: string }> {
  const { data: workspace } = await createClient({ url }).workspace.create({ ownerEmail: 'kill@example.com' })
  const [apiKey] = Object.keys(workspace.apiKeyList) as [string]
  const owner = createClient({ url, workspaceId: workspace.id, workspaceAuthToken: workspace.authToken })
  const tokens = () =>
    owner.authTokens.get({ apiKey }).then(
      ({ data }) => data.authTokens,
      () => [],
    )
  await expect.poll(tokens).toHaveLength(1)
  return { apiKey, authToken: (await tokens())[0]?.token ?? '' }
}

/** Lets writers write without a pause, and kills the server once more writes than `enough` were acknowledged. */
export async function killWhileWriting(
  server: ServerProcess,
  { writers, enough }: { writers: number; enough: number },
  write: () => Promise<void>,
): Promise<void> {
  let acknowledged = 0
  const writing = Array.from({ length: writers }, async () => {
    for (;;) {
      try {
        await write()
      } catch (error) {
        // Without an answer, the error has the network error as its cause.
        if (error instanceof ApiError && error.cause === undefined) throw error
        return
      }
      acknowledged++
    }
  })
  // It counts writes, so that slow machines write as much as fast ones.
  await expect.poll(() => acknowledged, { interval: 2, timeout: 60_000 }).toBeGreaterThan(enough)
  await server.kill()
  await Promise.all(writing)
}

/** Fails if the file of an embedded database is damaged. */
export function expectIntact({ DATA_DIR, DATABASE_URL }: { DATA_DIR: string; DATABASE_URL?: string }): void {
  if (DATABASE_URL !== undefined) return
  const db = new DatabaseSync(join(DATA_DIR, 'plenum.db'))
  expect(db.prepare('pragma integrity_check').get()).toEqual({ integrity_check: 'ok' })
  db.close()
}
