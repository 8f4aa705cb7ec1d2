import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

export interface ReceivedMail {
  sender: string
  recipients: string[]
  /** The parsed mail. */
  mail: Email
  raw: string
  isEncrypted: boolean
  user: string | undefined
}

export interface SmtpReceiver {
  url: string
  port: number
  received: ReceivedMail[]
  close(): Promise<void>
}

/** An error with which a mail server answers. */
export const smtpError = (responseCode: number, message: string): Error =>
  Object.assign(new Error(message), { responseCode })

/** Starts a mail server of this machine. Default: on a free port. */
export async function startSmtp(options: SMTPServerOptions = {}, port = 0): Promise<SmtpReceiver> {
  const received: ReceivedMail[] = []
  const server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    logger: false,
    // Clients keep their connections.
    closeTimeout: 50,
    onData(stream, session, onEnd) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => void chunks.push(chunk))
      stream.on('end', () => {
        const raw = Buffer.concat(chunks)
        const { mailFrom, rcptTo } = session.envelope
        void PostalMime.parse(raw).then((mail) => {
          received.push({
            sender: mailFrom === false ? '' : mailFrom.address,
            recipients: rcptTo.map(({ address }) => address),
            mail,
            raw: raw.toString(),
            isEncrypted: session.secure,
            user: session.user === undefined ? undefined : String(session.user),
          })
          onEnd()
        })
      })
    },
    ...options,
  })
  server.on('error', () => {})
  const listening = server.listen(port, '127.0.0.1')
  await once(listening, 'listening')
  const address = listening.address() as AddressInfo
  return {
    url: `${options.secure ? 'smtps' : 'smtp'}://127.0.0.1:${address.port}`,
    port: address.port,
    received,
    close: () => new Promise((onClosed) => server.close(() => onClosed())),
  }
}
