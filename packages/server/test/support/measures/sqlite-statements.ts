import { vi } from 'vitest'
import { SqliteConnection } from '../../../src/store/engine/sqlite-driver.ts'

/** Records the statements that SQLite runs in this process, until `vi.restoreAllMocks`. */
export function recordSqlite() {
  const run = vi.spyOn(SqliteConnection.prototype, 'run')
  return {
    statements: (): string[] => run.mock.calls.map(([statement]) => statement),
    /** How many rows the statements have returned. */
    rows: (): number =>
      run.mock.results.reduce((sum, { value }) => sum + (value as { rows: unknown[] }).rows.length, 0),
    clear: () => void run.mockClear(),
    stop: () => run.mockRestore(),
  }
}
