import { announceEditor } from './announce-editor.ts'
import { deliverNotification, type NotificationDeps } from './deliver-notification.ts'
import { digestEmails, type EmailDeps, prepareEmails, sendEmail } from './emails.ts'
import { type ErasureDeps, eraseUsers } from './erasure/erase-users.ts'
import type { JobHandlers } from './job.ts'
import { migrateDocument, type MigrationDeps } from './migrate-document.ts'
import { type LoginLinkDeps, sendLoginLink } from './send-login-link.ts'
import { dispatchWebhooks, sendWebhook, type WebhookDeps } from './webhooks.ts'

interface JobHandlerDeps
  extends MigrationDeps, ErasureDeps, NotificationDeps, LoginLinkDeps, EmailDeps, WebhookDeps {}

export const createJobHandlers = (deps: JobHandlerDeps): JobHandlers => ({
  'document.migrate': migrateDocument(deps),
  'users.erase': eraseUsers(deps),
  'notification.deliver': deliverNotification(deps),
  'crdt.changed': announceEditor,
  'email.loginLink': sendLoginLink(deps),
  'webhook.dispatch': dispatchWebhooks(),
  'webhook.send': sendWebhook(deps),
  'email.prepare': prepareEmails(deps),
  'email.digest': digestEmails(),
  'email.send': sendEmail(deps),
})
