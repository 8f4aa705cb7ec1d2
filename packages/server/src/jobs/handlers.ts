import type { JobHandlers } from './job.ts'
import { migrateDocument } from './migrate-document.ts'

export const handlers: JobHandlers = {
  'document.migrate': migrateDocument,
}
