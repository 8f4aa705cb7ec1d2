import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { composeMail, type MailRequest } from '../compose-mail.ts'
import { createSmtpTransport, smtpOptions } from './smtp.ts'
import { withLog } from './server-transport.ts'
import { certificate, certificateKey } from '../../../../test/support/receivers/certificate.ts'
import { activity, mailRequest } from '../../../../test/support/receivers/mails.ts'
import { smtpError, startSmtp } from '../../../../test/support/receivers/smtp.ts'

const mail = (changes: Partial<MailRequest> = {}) => {
  const composed = composeMail(mailRequest(changes), 'plenum@example.com')
  if (!composed) throw new Error('The mail of the test is valid.')
  return composed
}

async function receiver(...options: Parameters<typeof startSmtp>) {
  const started = await startSmtp(...options)
  onTestFinished(() => started.close())
  return started
}

function transport(...options: Parameters<typeof createSmtpTransport>) {
  const created = createSmtpTransport(...options)
  onTestFinished(() => created.close())
  return created
}

/** A server that accepts connections, and says nothing but the greeting. */
async function silentServer(greeting: string, onSocket = (_socket: Socket) => {}): Promise<string> {
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
    if (greeting !== '') socket.write(greeting)
    onSocket(socket)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('mails over SMTP', () => {
  test('[3.4.5] [3.4.6] a mail arrives with its sender, its recipient, both parts and its headers', async () => {
    const { url, received } = await receiver()
    const outcome = await transport(url).send(mail())
    expect(outcome).toMatchObject({ kind: 'delivered', code: 250 })
    expect(received).toHaveLength(1)
    const [one] = received
    expect(one).toMatchObject({ sender: 'notify@acme.example', recipients: ['grace@example.com'] })
    expect(one?.mail).toMatchObject({
      from: { name: 'Ada Lovelace via Acme', address: 'notify@acme.example' },
      replyTo: [{ name: 'Ada Lovelace', address: 'ada@example.com' }],
      to: [{ name: 'Grace Hopper', address: 'grace@example.com' }],
      subject: 'Ada Lovelace replied on Launch plan',
      messageId: '<del_1234567890@acme.example>',
      html: expect.stringContaining('Please check the table.'),
      text: expect.stringContaining('Please check the table.'),
    })
    const headers = new Map(one?.mail.headers.map(({ key, value }) => [key, value]))
    expect(headers.get('auto-submitted')).toBe('auto-generated')
    expect(headers.get('list-unsubscribe')).toBe('<https://plenum.example.com/unsubscribe/token>')
    expect(headers.get('list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click')
    expect(headers.get('references')).toMatch(/^<thread\.[0-9a-f]{32}@acme\.example>$/)
    expect(headers.get('in-reply-to')).toBe(headers.get('references'))
  })

  test('[3.4.6] mails about one thread answer the same mail, and a digest about several answers none', async () => {
    const { url, received } = await receiver()
    const { send } = transport(url)
    const about = (...annotationIds: string[]) => ({
      content: activity(...annotationIds.map((annotationId) => ({ annotationId }))),
    })
    for (const changes of [about('a1'), about('a1', 'a1'), about('a2'), about('a1', 'a2')]) {
      await send(mail(changes))
    }
    const [first, second, third, fourth] = received.map((one) => one.mail.references)
    expect(first).toBeDefined()
    expect(second).toBe(first)
    expect(third).not.toBe(first)
    expect(fourth).toBeUndefined()
  })

  test('[3.4.5] the server’s own address is the sender if the API key has none', async () => {
    const { url, received } = await receiver()
    await transport(url).send(mail({ settings: {} }))
    expect(received[0]).toMatchObject({
      sender: 'plenum@example.com',
      mail: { from: { name: 'Ada Lovelace', address: 'plenum@example.com' } },
    })
  })

  test('[3.4.6] an actor without a valid address gets no replies', async () => {
    const { url, received } = await receiver()
    await transport(url).send(mail({ content: activity({ actor: { name: 'Ada', email: 'nobody' } }) }))
    expect(received[0]?.mail.replyTo).toBeUndefined()
  })

  test('[3.4.4] a comment of 50 KB arrives, cut', async () => {
    const { url, received } = await receiver()
    const commentText = 'Zoë said: “naïve 😀”.\n'.repeat(2500)
    expect(await transport(url).send(mail({ content: activity({ commentText }) }))).toMatchObject({
      kind: 'delivered',
    })
    expect(received[0]?.mail.text).toContain('Zoë said: “naïve 😀”.')
    expect(received[0]?.raw.length).toBeLessThan(100_000)
  })

  test('[3.4.7] forty mails at once share a few connections and all arrive', async () => {
    let connections = 0
    const { url, received } = await receiver({
      onConnect(_session, onDone) {
        connections++
        onDone()
      },
    })
    const { send } = transport(url)
    const ids = Array.from({ length: 40 }, (_, index) => `del_${index}`)
    const outcomes = await Promise.all(ids.map((deliveryId) => send(mail({ deliveryId }))))
    expect(new Set(outcomes.map(({ kind }) => kind))).toEqual(new Set(['delivered']))
    expect(new Set(received.map((one) => one.mail.messageId)).size).toBe(40)
    expect(connections).toBeLessThanOrEqual(4)
  })

  test.each([
    ['RCPT', 550, 'refused'],
    ['RCPT', 451, 'failed'],
    ['MAIL', 553, 'refused'],
    ['MAIL', 421, 'failed'],
    ['DATA', 554, 'refused'],
    ['DATA', 452, 'failed'],
  ] as const)('[3.4.7] a mail to whose %s the server replies %i is %s', async (command, code, kind) => {
    const refuse = (_value: unknown, _session: unknown, onDone: (error: Error) => void) =>
      onDone(smtpError(code, 'Mailbox of <grace@example.com> does not want it'))
    const { url, received } = await receiver(
      command === 'RCPT'
        ? { onRcptTo: refuse }
        : command === 'MAIL'
          ? { onMailFrom: refuse }
          : {
              onData(stream, session, onDone) {
                stream.resume().on('end', () => refuse(stream, session, onDone))
              },
            },
    )
    expect(await transport(url).send(mail())).toMatchObject({
      kind,
      code,
      answer: expect.stringContaining('does not want it'),
      error: expect.stringMatching(/^The mail server (?:refused|did not accept) the mail: \d{3} /),
    })
    expect(received).toEqual([])
  })

  test('[3.4.13] the log has one warning when the mail server begins to fail, and one line when it accepts mails again', async () => {
    const before = await startSmtp()
    const logged: string[] = []
    const log = {
      warn: (_about: object, message: string) => void logged.push(message),
      info: (message: string) => void logged.push(message),
    }
    const { send } = withLog(transport(before.url), log as never)
    await send(mail())
    await before.close()
    await send(mail())
    await send(mail())
    await receiver({}, before.port)
    await send(mail())
    await send(mail())
    expect(logged).toEqual([
      'the mail server fails; mails wait for it',
      'the mail server accepts mails again',
    ])
  })

  test('[3.4.7] a mail fails while the server is down, and arrives when it is back', async () => {
    const first = await startSmtp()
    await first.close()
    const { send } = transport(first.url)
    expect(await send(mail())).toMatchObject({
      kind: 'failed',
      error: expect.stringContaining('ECONNREFUSED'),
    })
    const { received } = await receiver({}, first.port)
    expect(await send(mail())).toMatchObject({ kind: 'delivered' })
    expect(received).toHaveLength(1)
  })

  test.each([
    ['does not greet', ''],
    ['greets and then says nothing', '220 hello\r\n'],
  ])('[3.4.7] a mail fails if the server %s', async (_what, greeting) => {
    const url = await silentServer(greeting)
    const { send } = transport(url, { connectionTimeout: 200, greetingTimeout: 200, socketTimeout: 200 })
    expect(await send(mail())).toMatchObject({
      kind: 'failed',
      error: expect.stringContaining('The mail server did not answer'),
    })
  })

  test('[3.4.7] a mail fails if the server closes the connection', async () => {
    const url = await silentServer('220 hello\r\n', (socket) => socket.on('data', () => socket.destroy()))
    expect((await transport(url).send(mail())).kind).toBe('failed')
  })

  test('[3.4.8] the server logs in, over TLS from the first byte', async () => {
    const { port, received } = await receiver({
      secure: true,
      key: certificateKey,
      cert: certificate,
      disabledCommands: [],
      onAuth: ({ username, password }, _session, onDone) =>
        username === 'plenum@x' && password === 'p@ss/word%'
          ? onDone(null, { user: username })
          : onDone(smtpError(535, 'Authentication failed')),
    })
    const credentials = `${encodeURIComponent('plenum@x')}:${encodeURIComponent('p@ss/word%')}`
    const { send } = transport(`smtps://${credentials}@127.0.0.1:${port}`, { tls: { ca: certificate } })
    expect(await send(mail())).toMatchObject({ kind: 'delivered' })
    expect(received[0]).toMatchObject({ isEncrypted: true, user: 'plenum@x' })
  })

  test('[3.4.8] the server uses STARTTLS if the mail server offers it', async () => {
    const { url, received } = await receiver({
      key: certificateKey,
      cert: certificate,
      disabledCommands: ['AUTH'],
    })
    await transport(url, { tls: { ca: certificate } }).send(mail())
    expect(received[0]).toMatchObject({ isEncrypted: true })
  })

  test('[3.4.8] a mail fails if the certificate of the mail server is not trusted', async () => {
    const { url, received } = await receiver({ secure: true, key: certificateKey, cert: certificate })
    expect((await transport(url).send(mail())).kind).toBe('failed')
    expect(received).toEqual([])
  })

  test('[3.4.7] a wrong password makes the mail fail, and is in no message', async () => {
    const { port } = await receiver({
      disabledCommands: ['STARTTLS'],
      onAuth: (_auth, _session, onDone) => onDone(smtpError(535, 'Authentication failed')),
    })
    const outcome = await transport(`smtp://user:hunter2@127.0.0.1:${port}`).send(mail())
    expect(outcome).toMatchObject({ kind: 'failed', code: 535 })
    expect(JSON.stringify(outcome)).not.toContain('hunter2')
  })

  test.each([
    ['smtp://user:p@mail.example.com', { port: 587, secure: false, requireTLS: true }],
    ['smtp://user:p@mail.example.com:2525', { port: 2525, secure: false, requireTLS: true }],
    ['smtps://user:p@mail.example.com', { port: 465, secure: true, requireTLS: false }],
    ['smtp://user:p@localhost:25', { port: 25, secure: false, requireTLS: false }],
    ['smtp://user:p@[::1]:25', { host: '::1', requireTLS: false }],
    ['smtp://user:p@127.0.0.1.example.com:25', { requireTLS: true }],
  ])('[3.4.8] a password is sent without TLS to this machine only: %s', (url, options) => {
    expect(smtpOptions(url)).toMatchObject(options)
  })
})
