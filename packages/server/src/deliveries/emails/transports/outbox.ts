import { mkdir, open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { createTransport } from 'nodemailer'
import type { Clock } from '../../../platform/clock.ts'
import type { Log } from '../../../platform/log/log.ts'
import type { MailTransport } from './mail-transport.ts'
import { mimeMessage } from './mime-message.ts'

interface OutboxDeps {
  folder: string
  clock: Clock
  log: Log
}

/** Writes mails to files, for servers without a mail server. Mail programs open them. */
export function createOutbox({ folder, clock, log }: OutboxDeps): MailTransport {
  const composer = createTransport({ streamTransport: true, buffer: true, newline: 'windows' })
  return {
    async send(mail) {
      const time = new Date(clock.now()).toISOString().replaceAll(/[:.]/g, '-')
      const name = `${time}-${mail.deliveryId.replaceAll(/[^\w-]/g, '').slice(0, 80)}.eml`
      const file = join(folder, name)
      try {
        const { message } = await composer.sendMail(mimeMessage(mail))
        // Mails contain private texts and login links.
        await mkdir(folder, { recursive: true, mode: 0o700 })
        await writeDurably(file, message as Buffer)
      } catch (error) {
        return { kind: 'failed', error: `The outbox cannot be written: ${(error as Error).message}` }
      }
      log.info({ file }, 'mail written to the outbox')
      return { kind: 'delivered', answer: name }
    },
    async close() {},
  }
}

/** A reader never sees half a file. */
async function writeDurably(file: string, content: Buffer): Promise<void> {
  const unfinished = `${file}.tmp`
  const handle = await open(unfinished, 'w', 0o600)
  try {
    await handle.writeFile(content)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(unfinished, file)
}
