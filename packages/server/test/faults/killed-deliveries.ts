import { createClient } from '@plenum/client'
import { expect, onTestFinished, type TestContext } from 'vitest'
import { reportCounts, rounds } from '../support/random/effort.ts'
import * as given from '../support/given.ts'
import type { Store } from '../support/harness.ts'
import { startProcess } from '../support/processes/process.ts'
import { createRandom } from '../support/random/random.ts'
import { startSmtp } from '../support/receivers/smtp.ts'
import { WebhookReceiver } from '../support/receivers/webhook-receiver.ts'
import { killWhileWriting, newSettings } from './kills.ts'

const organizationId = 'org_1'
const ref = { organizationId, documentId: 'doc_1' }

/** How often each comment arrived, and under how many ids. */
type Arrivals = Map<string, { count: number; ids: Set<string> }>

function note(arrivals: Arrivals, text: string, id: string): void {
  const known = arrivals.get(text) ?? { count: 0, ids: new Set() }
  arrivals.set(text, { count: known.count + 1, ids: known.ids.add(id) })
}

/**
 * Kills the server repeatedly while comments are written and deliveries run. Returns which comments were acknowledged, and
 * what has arrived once nothing more is on its way, or once everything has arrived.
 */
export async function killRepeatedly(program: 'fastServer' | 'earlyAnswers', store: Store, count: number) {
  const random = createRandom()
  const webhooks: Arrivals = new Map()
  const mails: Arrivals = new Map()
  // The clock of the control is not fast: it would wait for seconds before it sends again.
  const mayFail = program === 'fastServer'
  const receiver = await WebhookReceiver.start()
  receiver.respond = (response, { json, headers }) => {
    // Some answers are lost with the server that waits for them.
    setTimeout(() => {
      note(webhooks, json.data.targetComment?.commentText ?? '', String(headers['webhook-id']))
      response.writeHead(mayFail && random(5) === 0 ? 500 : 200).end()
    }, random(30))
  }
  const smtp = await startSmtp()
  onTestFinished(() => smtp.close())
  const env = {
    ...(await newSettings(store)),
    TEST_CLOCK_FROM: String(Date.now()),
    LIMIT_CREATE_WORKSPACE_PER_HOUR: '0',
    OUTGOING_PRIVATE_ADDRESSES: 'allowed',
    SMTP_URL: smtp.url,
    MAIL_FROM: 'mail@example.com',
  }
  // The control would take long: it answers 100 ms before it commits.
  const setUp = await startProcess('fastServer', env)
  const { url } = setUp
  const tenant = await given.tenant({ client: (options) => createClient({ url, ...options }) })
  const { apiKey, authToken, client: first } = tenant
  await given.document(tenant)
  await first.users.add({
    organizationId,
    users: ['ada', 'grace'].map((userId) => ({ userId, name: userId, email: `${userId}@example.com` })),
  })
  await first.emailConfig.update({ useEmailService: true })
  await first.advancedWebhookConfig.update({ isEnabled: true })
  await first.webhookEndpoints.create({ url: receiver.url })
  let server = setUp
  if (program === 'earlyAnswers') {
    await setUp.terminate()
    server = await startProcess(program, env)
  }
  const acknowledged: string[] = []
  let next = 0
  for (let kill = 0; kill < count; kill++) {
    const client = createClient({ url: server.url, apiKey, authToken, retries: 0 })
    await killWhileWriting(server, { writers: 3, enough: 5 + random(20) }, async () => {
      const commentText = `comment ${next++}`
      const comment = { commentText, from: { userId: 'ada' }, triggerNotification: true }
      await client.commentAnnotations.add({ ...ref, commentAnnotations: [{ commentData: [comment] }] })
      acknowledged.push(commentText)
    })
    server = await startProcess(program, env)
  }
  const client = createClient({ url: server.url, apiKey, authToken })
  const readMails = () => {
    for (const { mail } of smtp.received.splice(0)) {
      const [text] = /comment \d+/.exec(mail.text ?? '') ?? ['']
      note(mails, text, mail.messageId ?? '')
    }
  }
  const missing = () => {
    readMails()
    return acknowledged.filter((text) => !webhooks.has(text) || !mails.has(text))
  }
  /** Resolves when what was stored before is sent: the lanes are in order, and this comment is the last one. */
  const sendLast = async () => {
    const commentText = `comment ${next++}`
    const comment = { commentText, from: { userId: 'ada' }, triggerNotification: true }
    await client.commentAnnotations.add({ ...ref, commentAnnotations: [{ commentData: [comment] }] })
    const isSent = () => {
      readMails()
      return webhooks.has(commentText) && mails.has(commentText)
    }
    await expect.poll(isSent, { interval: 50, timeout: 120_000 }).toBe(true)
  }
  return { acknowledged, webhooks, mails, missing, sendLast, server }
}

/** Fails if a killed server loses a comment's webhook or mail, or gives it a second id. */
export async function expectAllDelivered(
  store: Store,
  killsPerRun: number,
  context: Pick<TestContext, 'task'>,
): Promise<void> {
  const kills = rounds(killsPerRun)
  const { acknowledged, webhooks, mails, missing, server } = await killRepeatedly('fastServer', store, kills)
  // A job that a killed server had claimed runs again after its lease, if servers share the database.
  await expect.poll(missing, { interval: 50, timeout: 240_000 }).toEqual([])
  for (const arrivals of [webhooks, mails]) {
    for (const text of acknowledged) expect(arrivals.get(text)?.ids.size).toBe(1)
  }
  const sum = (arrivals: Arrivals) => [...arrivals.values()].reduce((total, { count }) => total + count, 0)
  reportCounts(context, {
    kills,
    acknowledged: acknowledged.length,
    webhooks: sum(webhooks),
    mails: sum(mails),
  })
  await server.terminate()
}
