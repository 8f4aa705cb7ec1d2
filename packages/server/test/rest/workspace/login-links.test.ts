import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import * as given from '../../support/given.ts'
import { startServer, stores, type TestServer } from '../../support/harness.ts'
import { runHousekeeping } from '../../support/data/housekeeping.ts'
import { type SmtpReceiver, startSmtp } from '../../support/receivers/smtp.ts'

const continueUrl = 'http://localhost:3000/console/?theme=dark#old'
const minuteMs = 60_000
const invalid = (message: string) => ({
  status: 400,
  body: { error: { status: 'INVALID_ARGUMENT', message } },
})
const used = {
  status: 'UNAUTHENTICATED',
  message: 'This login link has been used or has expired.',
}

describe.each(stores)('login links on %s', (store) => {
  async function scene(env: Record<string, string> = {}) {
    const smtp = await startSmtp()
    onTestFinished(() => smtp.close())
    let running = await startServer(store, {
      env: { SMTP_URL: smtp.url, MAIL_FROM: 'plenum@example.com', LIMIT_LOGIN_LINKS_PER_HOUR: '0', ...env },
      jobPollMs: 50,
    })
    onTestFinished(() => running.stop())
    const restart = async () => (running = await running.restart())
    return { smtp, server: running, restart }
  }
  const send = (server: TestServer, email: string) =>
    server.client().email.sendLoginLink({ email, continueUrl })
  /** The link in the newest mail. */
  const linkIn = ({ received }: SmtpReceiver) =>
    /https?:\/\/\S+#login=\S+/.exec(received.at(-1)?.mail.text ?? '')?.[0] ?? ''
  const tokenIn = (smtp: SmtpReceiver) => linkIn(smtp).split('#login=')[1] ?? ''

  test('[1.10] the email address of an owner is verified, and an unknown one is not found', async () => {
    const { server } = await scene()
    await given.tenant(server, 'owner@example.com')
    const { status } = server.client().email
    expect(await status({ ownerEmail: ' Owner@Example.com ' })).toMatchObject({
      message: 'Email verified and workspace reactivated',
      data: { verified: true },
    })
    await expect(status({ ownerEmail: 'nobody@example.com' })).rejects.toMatchObject({
      status: 'NOT_FOUND',
      message: 'User not found',
    })
    await expect(status({ ownerEmail: 'nobody' })).rejects.toThrow(
      'ownerEmail must be a valid email address.',
    )
  })

  test('[1.11] [1.12] an owner gets a link, and its token returns the owner’s workspaces once', async () => {
    const { server, smtp } = await scene()
    const first = await given.tenant(server, 'owner@example.com')
    const second = await given.tenant(server, 'owner@example.com')
    await given.tenant(server, 'other@example.com')
    expect(await send(server, 'OWNER@example.com')).toMatchObject({
      message: 'Login link sent successfully',
      data: null,
    })
    await expect.poll(() => smtp.received.length).toBe(1)
    expect(smtp.received[0]).toMatchObject({
      sender: 'plenum@example.com',
      recipients: ['owner@example.com'],
      mail: { subject: 'Your sign-in link for localhost:3000' },
    })
    const link = linkIn(smtp)
    expect(link).toMatch(/^http:\/\/localhost:3000\/console\/\?theme=dark#login=[\w-]{43}$/)
    const { login } = server.client().email
    const loginToken = tokenIn(smtp)
    expect((await login({ loginToken })).data).toEqual({
      ownerEmail: 'owner@example.com',
      workspaces: [first, second].map(({ workspaceId }) => ({
        workspaceId,
        name: 'owner@example.com workspace',
      })),
    })
    await expect(login({ loginToken })).rejects.toMatchObject(used)
  })

  test('[1.12] two logins with one token at the same time: one succeeds', async () => {
    const { server, smtp } = await scene()
    await given.tenant(server, 'owner@example.com')
    await send(server, 'owner@example.com')
    await expect.poll(() => smtp.received.length).toBe(1)
    const loginToken = tokenIn(smtp)
    const logins = Array.from({ length: 5 }, () => server.client().email.login({ loginToken }))
    const results = await Promise.allSettled(logins)
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  test('[1.12] a token expires after 15 minutes, and other tokens are refused', async () => {
    const { server, smtp } = await scene()
    await given.tenant(server, 'owner@example.com')
    await send(server, 'owner@example.com')
    await expect.poll(() => smtp.received.length).toBe(1)
    const { login } = server.client().email
    const loginToken = tokenIn(smtp)
    for (const wrong of ['', 'x', loginToken.slice(1), `${loginToken}x`, loginToken.toUpperCase()]) {
      await expect(login({ loginToken: wrong })).rejects.toThrow()
    }
    server.clock.offsetMs = 15 * minuteMs
    await expect(login({ loginToken })).rejects.toMatchObject(used)
    server.clock.offsetMs = 14 * minuteMs
    await login({ loginToken })
  })

  test('[1.11.1] an address without a workspace gets the same answer and no mail', async () => {
    const { server, smtp } = await scene()
    await given.tenant(server, 'owner@example.com')
    const input = (email: string) => ({ data: { email, continueUrl } })
    const path = '/v2/workspace/email/send-login-link'
    const unknown = await server.post(path, input('nobody@example.com'))
    const known = await server.post(path, input('owner@example.com'))
    expect(unknown.body).toEqual(known.body)
    expect(unknown.status).toBe(known.status)
    await expect.poll(() => smtp.received.length).toBe(1)
    expect(smtp.received[0]?.recipients).toEqual(['owner@example.com'])
    // Both write one row, so the time of the answer does not tell them apart.
    const rows = await server.database.read.selectFrom('login_links').select('email').execute()
    expect(rows.map((row) => row.email).sort()).toEqual(['nobody@example.com', 'owner@example.com'])
  })

  test('[1.11.2] the database and the log do not contain the token', async () => {
    const { server, smtp } = await scene()
    await given.tenant(server, 'owner@example.com')
    await smtp.close()
    await send(server, 'owner@example.com')
    await expect.poll(() => server.logged.filter((line) => line.includes('was not sent'))).not.toEqual([])
    const [job] = await server.database.read.selectFrom('jobs').selectAll().execute()
    expect(job?.payload).toContain('sealedUrl')
    const back = await startSmtp({}, smtp.port)
    onTestFinished(() => back.close())
    server.clock.offsetMs = minuteMs
    await expect.poll(() => back.received.length).toBe(1)
    const token = tokenIn(back)
    const links = await server.database.read.selectFrom('login_links').selectAll().execute()
    expect(JSON.stringify([job, links])).not.toContain(token)
    expect(server.logged.join('\n')).not.toContain(token)
    await server.client().email.login({ loginToken: token })
  })

  test('[1.11.3] the link is sent when the mail server is back, also after a restart of the server, and not after it expired', async () => {
    const { server, smtp, restart } = await scene()
    await given.tenant(server, 'owner@example.com')
    await smtp.close()
    await send(server, 'owner@example.com')
    await expect.poll(() => server.logged.filter((line) => line.includes('was not sent'))).not.toEqual([])
    const restarted = await restart()
    const back = await startSmtp({}, smtp.port)
    onTestFinished(() => back.close())
    restarted.clock.offsetMs = minuteMs
    await expect.poll(() => back.received.length).toBe(1)
    await back.close()
    await send(restarted, 'owner@example.com')
    await expect.poll(() => restarted.logged.filter((line) => line.includes('was not sent'))).not.toEqual([])
    restarted.clock.offsetMs = 20 * minuteMs
    const countJobs = async () =>
      (await restarted.database.read.selectFrom('jobs').select('job_id').execute()).length
    await expect.poll(countJobs).toBe(0)
  })

  test('[1.11.3] a mail server that does not answer does not delay the stop, and the link is kept', async () => {
    let connections = 0
    const silent = createServer((socket) => {
      connections++
      socket.on('error', () => {})
    }).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    onTestFinished(() => void silent.close())
    const { port } = silent.address() as AddressInfo
    const { server, restart } = await scene({ SMTP_URL: `smtp://127.0.0.1:${port}` })
    await given.tenant(server, 'owner@example.com')
    await send(server, 'owner@example.com')
    await expect.poll(() => connections).toBe(1)
    const restarted = await restart()
    // Had the stop waited for the greeting, which has 10 s, the attempt would have failed.
    expect(server.logged.join('')).not.toMatch(/greeting|timed? ?out/i)
    expect(await restarted.database.read.selectFrom('jobs').select('kind').execute()).toEqual([
      { kind: 'email.loginLink' },
    ])
  })

  test('[1.11.4] an address gets at most five links in an hour', async () => {
    const { server, smtp } = await scene()
    await given.tenant(server, 'owner@example.com')
    for (let count = 0; count < 7; count++) await send(server, 'owner@example.com')
    await expect.poll(() => smtp.received.length).toBe(5)
    server.clock.offsetMs = 61 * minuteMs
    await send(server, 'owner@example.com')
    await expect.poll(() => smtp.received.length).toBe(6)
  })

  test('[1.11] continueUrl leads to localhost or a host of CONSOLE_HOSTS', async () => {
    const { server } = await scene({ CONSOLE_HOSTS: 'Console.example.com, other.example.com' })
    const path = '/v2/workspace/email/send-login-link'
    const call = (url: unknown, email = 'owner@example.com') =>
      server.post(path, { data: { email, continueUrl: url } })
    for (const url of [
      'https://console.example.com/',
      'https://OTHER.example.com:8443/x',
      'http://localhost',
    ]) {
      expect(await call(url)).toMatchObject({ status: 200 })
    }
    for (const url of [
      'https://evil.example.com/',
      'https://console.example.com.evil.example/',
      'https://localhost.evil.example',
      'http://127.0.0.1/',
      'https://x.console.example.com/',
      'https://evil.example\\@localhost/',
    ]) {
      expect([url, await call(url)]).toMatchObject([url, invalid('The continueUrl domain is not allowed.')])
    }
    for (const url of [
      '',
      'localhost',
      'javascript:alert(1)',
      'ftp://localhost/',
      'https://user@localhost/',
    ]) {
      expect([url, await call(url)]).toMatchObject([url, invalid('Invalid url for continueUrl')])
    }
    expect(await call('http://localhost/', 'x@mailinator.com')).toMatchObject(
      invalid('This email domain is not supported.'),
    )
    expect(await call('http://localhost/', 'x\r\n@example.com')).toMatchObject(
      invalid('email must be a valid email address.'),
    )
  })

  test('[0.7.12] status, sending and logging in have a rate limit per address each', async () => {
    const { server } = await scene({ LIMIT_LOGIN_LINKS_PER_HOUR: '2' })
    for (const [path, data] of [
      ['status', { ownerEmail: 'x@example.com' }],
      ['send-login-link', { email: 'x@example.com', continueUrl }],
      ['login', { loginToken: 'x' }],
    ] as const) {
      const call = () => server.post(`/v2/workspace/email/${path}`, { data })
      const statuses = [(await call()).status, (await call()).status, (await call()).status]
      expect(statuses.map((status) => status === 429)).toEqual([false, false, true])
      expect((await call()).body.error.message).toBe(
        'Rate limit exceeded for this endpoint. Try again later.',
      )
    }
  })

  test('[1.11.4] housekeeping removes links after an hour', async () => {
    const { server } = await scene()
    await send(server, 'nobody@example.com')
    const countLinks = async () =>
      (await server.database.read.selectFrom('login_links').select('email').execute()).length
    await runHousekeeping(server, 59 * minuteMs)
    expect(await countLinks()).toBe(1)
    await runHousekeeping(server, 61 * minuteMs)
    expect(await countLinks()).toBe(0)
  })

  test('[3.4.9] without SMTP_URL the link is in the outbox', async () => {
    const server = await startServer(store)
    onTestFinished(() => server.stop())
    await given.tenant(server, 'owner@example.com')
    await send(server, 'owner@example.com')
    await expect
      .poll(() => server.logged.filter((line) => line.includes('written to the outbox')))
      .toHaveLength(2)
  })
})
