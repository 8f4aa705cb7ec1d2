import { announceEditor } from './announce-editor.ts'
import { deliverNotification, type NotificationDeps } from './deliver-notification.ts'
import { type ErasureDeps, eraseUsers } from './erasure/erase-users.ts'
import type { JobHandlers } from './job.ts'
import { migrateDocument, type MigrationDeps } from './migrate-document.ts'
import { type Mails, sendLoginLink } from './send-login-link.ts'

export interface JobHandlerDeps extends MigrationDeps, ErasureDeps, NotificationDeps {
  mails: Mails
}

export const createJobHandlers = (deps: JobHandlerDeps): JobHandlers => ({
  'document.migrate': migrateDocument(deps),
  'users.erase': eraseUsers(deps),
  'notification.deliver': deliverNotification(deps),
  'crdt.changed': announceEditor,
  'email.loginLink': sendLoginLink(deps.mails),
})
