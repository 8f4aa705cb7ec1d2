import { afterAll, beforeAll } from 'vitest'
import { type Store, useServer } from '../support/harness.ts'
import { type SmtpReceiver, smtpError, startSmtp } from '../support/receivers/smtp.ts'
import { options, organizationId, scene } from './scene.ts'

/** A server, and the mail server to which it sends. Call it in a `describe`. */
export function useMailServer(store: Store) {
  let smtp: SmtpReceiver
  /** Addresses that the mail server refuses, for good or for now. */
  const refused = new Map<string, number>()
  const env = {
    ...options.env,
    SMTP_URL: '',
    MAIL_FROM: 'mail@plenum.example.com',
    PUBLIC_URL: 'https://plenum.example.com',
  }
  beforeAll(async () => {
    smtp = await startSmtp({
      onRcptTo: ({ address }, _session, onChecked) => {
        const code = refused.get(address)
        onChecked(code === undefined ? null : smtpError(code, 'no such mailbox'))
      },
    })
    // The server starts after this.
    env.SMTP_URL = smtp.url
  })
  const server = useServer(store, { ...options, env })
  afterAll(() => smtp?.close())

  /** A tenant that sends emails. Its users have addresses of their own. */
  async function mailScene(emailServiceConfig: object = {}) {
    const tenant = await scene(server)
    const { client, apiKey } = tenant
    const addressOf = (userId: string) => `${userId}@${apiKey.toLowerCase().replaceAll('_', '-')}.example.com`
    const addUsers = (...userIds: string[]) =>
      client.users.add({
        organizationId,
        users: userIds.map((userId) => ({ userId, name: `The ${userId}`, email: addressOf(userId) })),
      })
    await addUsers('ada', 'grace', 'alan')
    await client.emailConfig.update({
      useEmailService: true,
      emailServiceConfig: { fromEmail: 'hello@acme.example', fromCompany: 'Acme', ...emailServiceConfig },
    })
    const mailsTo = (userId: string) =>
      smtp.received.filter(({ recipients }) => recipients.includes(addressOf(userId)))
    const subjectsTo = (userId: string) => mailsTo(userId).map(({ mail }) => mail.subject)
    const setEmail = (userIds: string[], email: 'ALL' | 'MINE' | 'NONE', documentIds?: string[]) =>
      client.notifications.setConfig({
        organizationId,
        userIds,
        config: { email },
        ...(documentIds && { documentIds }),
      })
    return { ...tenant, addressOf, addUsers, mailsTo, subjectsTo, setEmail }
  }
  return { server, refused, mailScene }
}
