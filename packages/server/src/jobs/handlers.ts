import { deliverNotification } from './deliver-notification.ts'
import type { JobHandlers } from './job.ts'
import { migrateDocument } from './migrate-document.ts'

export const handlers: JobHandlers = {
  'document.migrate': migrateDocument,
  'notification.deliver': deliverNotification,
}
