import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import * as apiKeys from '../../src/store/api-keys.ts'
import * as editorLog from '../../src/store/editors/log.ts'
import type { Db } from '../../src/store/engine/db.ts'
import { EndedTransactionError } from '../../src/store/engine/transaction.ts'
import * as workspaces from '../../src/store/workspaces.ts'
import * as given from '../support/given.ts'
import { stores, useServer } from '../support/harness.ts'

describe.each(stores)('[P2] ended transactions on %s', (store) => {
  const server = useServer(store)
  const entry = {
    apiKey: 'none',
    editor: { organizationId: 'o', documentId: 'd', editorId: 'e' },
    update: Uint8Array.of(1),
    writer: { userId: 'u', sessionId: null },
    create: null,
    owners: [],
  }
  /** One query for each way to reach the database. */
  const queries: [way: string, run: (db: Db) => Promise<unknown>][] = [
    ['a built query', (db) => workspaces.isEmpty(db)],
    ['a prepared query', (db) => apiKeys.find(db, 'none')],
    ['a batched statement', (db) => editorLog.append(db, [entry], 1)],
    ['SQL text', (db) => sql`select 1`.execute(db)],
  ]

  test.each(queries)('[P2] %s succeeds inside its transaction', async (_, run) => {
    await server.database.write(run)
  })

  test.each(queries)('[P2] %s is rejected after the commit of its transaction', async (_, run) => {
    let kept!: Db
    await server.database.write(async (db) => void (kept = db))
    await expect((async () => run(kept))()).rejects.toThrow(EndedTransactionError)
  })

  test.each(queries)('[P2] %s is rejected after the rollback of its transaction', async (_, run) => {
    let kept!: Db
    const rolledBack = server.database.write(async (db) => {
      kept = db
      throw new Error('rolled back')
    })
    await expect(rolledBack).rejects.toThrow('rolled back')
    await expect((async () => run(kept))()).rejects.toThrow(EndedTransactionError)
  })

  test('[P2] a query built inside a transaction is rejected when it runs after the commit', async () => {
    const query = await server.database.write(async (db) => ({
      late: db.selectFrom('workspaces').select('workspace_id').limit(1),
    }))
    await expect(query.late.execute()).rejects.toThrow(EndedTransactionError)
  })

  test('[P2] a query that is not awaited does not run in the transaction of another caller', async () => {
    const tenant = await given.tenant(server)
    const rename = (db: Db) => apiKeys.rename(db, tenant.workspaceId, tenant.apiKey, 'too late')
    let late: Promise<unknown> | undefined
    await server.database.write(async (db) => {
      late = new Promise((resolve) => setImmediate(resolve)).then(() => rename(db))
      late.catch(() => {})
    })
    await server.database.write(async (db) => {
      await workspaces.isEmpty(db)
      await expect(late).rejects.toThrow(EndedTransactionError)
    })
    expect((await apiKeys.find(server.database.read, tenant.apiKey))?.key.name).not.toBe('too late')
  })
})
