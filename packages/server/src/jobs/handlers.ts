import { migrateDocument } from './migrate-document.ts'
import type { JobHandlers } from './runner.ts'

/** Every kind of job and what it does. */
export const handlers: JobHandlers = {
  'document.migrate': migrateDocument,
}
