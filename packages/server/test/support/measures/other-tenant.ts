import { expect } from 'vitest'
import * as given from '../given.ts'
import type { TestServer } from '../harness.ts'
import { expectShortIterations, type IterationWork } from './loop-work.ts'

/** What one transaction of long work may do. On SQLite all other tenants may have to wait for it. */
const maxRowsPerTransaction = { sqlite: 1500, postgres: 3000 }
const maxStatementsPerTransaction = 1000

/** Another tenant writes during every other transaction: writing during each of them would take most of the time. */
const transactionsPerWrite = 2

/**
 * Runs work that must block neither the event loop (S2) nor the writes of other tenants (S1). It must consist of small
 * transactions. Another tenant writes meanwhile, and the work stops between two transactions until that write is answered:
 * it would never be if the work held what the other tenant needs. At least `minWrites` writes are answered during the work.
 */
export async function runInShortSteps(
  server: TestServer,
  work: () => Promise<unknown>,
  minWrites = 3,
  limits?: Partial<IterationWork>,
): Promise<void> {
  const other = await given.tenant(server)
  await given.organization(other, 'o')
  let began = 0
  let answered = 0
  let pending: Promise<void> | undefined
  const write = async () => {
    await other.client.organizations.update({ organizations: [{ organizationId: 'o', began }] })
    answered++
    pending = undefined
  }
  const restore = server.all.map(({ database }) => {
    const original = database.write
    database.write = async (transaction, lane, options) => {
      if (lane !== other.apiKey) {
        await pending
        if (began++ % transactionsPerWrite === 0) pending ??= write()
      }
      return original(transaction, lane, options)
    }
    return () => void (database.write = original)
  })
  let answeredMeanwhile = 0
  const { transactions } = await expectShortIterations(async () => {
    try {
      await work()
      answeredMeanwhile = answered
    } finally {
      for (const end of restore) end()
      await pending
    }
  }, limits)
  expect(answeredMeanwhile, 'Writes of another tenant during the work').toBeGreaterThanOrEqual(minWrites)
  expect(transactions.mostRows, 'Rows in a transaction').toBeLessThanOrEqual(
    maxRowsPerTransaction[server.database.dialect],
  )
  expect(transactions.mostStatements, 'Statements in a transaction').toBeLessThanOrEqual(
    maxStatementsPerTransaction,
  )
}
