import { deliverNotification } from './deliver-notification.ts'
import type { JobHandlers } from './job.ts'
import { eraseUsers } from './erasure/erase-users.ts'
import { migrateDocument } from './migrate-document.ts'
import { sendLoginLink } from './send-login-link.ts'

export const handlers: JobHandlers = {
  'document.migrate': migrateDocument,
  'users.erase': eraseUsers,
  'notification.deliver': deliverNotification,
  'email.loginLink': sendLoginLink,
}
