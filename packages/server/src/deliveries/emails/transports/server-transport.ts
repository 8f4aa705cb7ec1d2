import { join } from 'node:path'
import type { Clock } from '../../../platform/clock.ts'
import type { Log } from '../../../platform/log/log.ts'
import type { MailTransport } from './mail-transport.ts'
import { createOutbox } from './outbox.ts'
import { createSmtpTransport } from './smtp.ts'

interface MailServerSettings {
  smtpUrl: string | undefined
  publicOrigins: readonly string[]
  dataDir: string
}

/** How mails of API keys without a provider of their own leave: through `SMTP_URL`, or into the outbox. */
export function createMailTransport(
  { smtpUrl, publicOrigins, dataDir }: MailServerSettings,
  { clock, log }: { clock: Clock; log: Log },
): MailTransport {
  if (smtpUrl !== undefined) {
    const { host } = new URL(smtpUrl)
    log.info({ host }, 'mails are sent by SMTP')
    if (publicOrigins.length === 0) {
      log.warn('links in mails lead to localhost; set PUBLIC_URL to the address of this server')
    }
    return withLog(createSmtpTransport(smtpUrl), log)
  }
  const folder = join(dataDir, 'outbox')
  log.info({ folder }, 'mails are written to the outbox; set SMTP_URL to send them')
  return createOutbox({ folder, clock, log })
}

/** The mail server is closing, or refuses the login. Other codes are about one mail. */
const isAboutServer = (code: number | undefined) => code === undefined || code === 421 || code === 535

/** Logs when the mail server begins to fail, and when it accepts mails again: all mails wait meanwhile. */
export function withLog(transport: MailTransport, log: Pick<Log, 'info' | 'warn'>): MailTransport {
  let isFailing = false
  return {
    async send(mail) {
      const outcome = await transport.send(mail)
      if (outcome.kind === 'failed' && isAboutServer(outcome.code) && !isFailing) {
        isFailing = true
        log.warn({ code: outcome.code, reason: outcome.error }, 'the mail server fails; mails wait for it')
      } else if (outcome.kind === 'delivered' && isFailing) {
        isFailing = false
        log.info('the mail server accepts mails again')
      }
      return outcome
    },
    close: () => transport.close(),
  }
}
