import { existsSync, readdirSync, readFileSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createClient } from '@plenum/client'
import { describe, expect, test } from 'vitest'
import { plenumConnection } from '../support/clients/plenum-client.ts'
import { newFolder } from '../support/data/folders.ts'
import { tokenFor } from '../support/access/user-tokens.ts'
import * as given from '../support/given.ts'
import { stores } from '../support/harness.ts'
import { runCommand } from '../support/processes/process.ts'
import { newSettings, startWith } from '../support/processes/settings.ts'

describe.each(stores)('[D7] a rotation of the secret on %s', (store) => {
  test('[D7] [D7.1] [D7.2] after a rotation, auth tokens are new, and everything that was stored can still be used', async () => {
    const settings = await newSettings(store)
    // No mail server answers, so that a login link waits until after the rotation.
    const noMail = { SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'plenum@example.com' }
    const before = await startWith({ ...settings, ...noMail })
    const email = 'rotation@example.com'
    const tenant = await given.tenant(before, email)
    const { apiKey, client } = tenant
    const userToken = await tokenFor(tenant, 'ada', { resources: [{ type: 'organization', id: 'acme' }] })
    const addEndpoint = (of: typeof client) =>
      of.webhookEndpoints.create({ url: 'https://example.com/hook' }, { idempotencyKey: 'once' })
    await client.advancedWebhookConfig.update({ isEnabled: true })
    const { id: endpointId } = (await addEndpoint(client)).data
    await client.webhookEndpoints.rotateSecret({ endpointId })
    const { secret } = (await client.webhookEndpoints.getSecret({ endpointId })).data
    await client.emailConfig.update({
      emailServiceConfig: { type: 'sendgrid', apiKey: 'SG.key-of-the-provider', fromEmail: 'a@example.com' },
    })
    const emailConfig = (await client.emailConfig.get()).data

    const addThread = (of: typeof client, commentText: string) =>
      of.commentAnnotations.add({
        organizationId: 'acme',
        documentId: 'plan',
        createOrganization: true,
        createDocument: true,
        commentAnnotations: [{ commentData: [{ commentText, from: { userId: 'ada' } }] }],
      })
    await addThread(client, 'before')
    await expect.poll(async () => (await client.events.get()).data.events.length).toBe(1)
    const position = (await client.events.get()).data

    await createClient({ url: before.url }).email.sendLoginLink({
      email,
      continueUrl: 'http://localhost:3000/',
    })

    const newFile = join(newFolder(), 'new-secret')
    const usesFile = store === 'sqlite'
    const words = ['rotate-secret', ...(usesFile ? [] : ['--new-secret', newFile])]
    const running = await runCommand([...words, '--yes'], settings)
    expect(running.code).toBe(1)
    expect(running.stderr).toMatch(/in use by a server|Stop all servers/)
    await before.end()

    const rotated = await runCommand([...words, '--yes'], settings)
    expect(rotated).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/encrypted again: \d+/),
    })
    const file = usesFile ? join(settings.DATA_DIR ?? '', 'secret.key') : newFile
    const SECRET_KEY = readFileSync(file, 'utf8').trim()
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(rotated.stdout + rotated.stderr).not.toContain(SECRET_KEY)

    const changed = usesFile ? settings : { ...settings, SECRET_KEY }
    // The file that was not deleted must not pass for a new secret.
    if (!usesFile) {
      const repeated = await runCommand([...words, '--yes'], changed)
      expect(repeated).toMatchObject({ code: 1, stderr: expect.stringContaining('has the present secret') })
    }
    const after = await startWith({ ...changed, PORT: new URL(before.url).port }, { jobPollMs: 50 })
    await expect(client.organizations.get()).rejects.toMatchObject({ status: 'UNAUTHENTICATED' })
    const authToken = (await runCommand(['token', '--kind', 'backend'], changed)).stdout.trim()
    const renewed = createClient({ url: after.url, apiKey, authToken })
    expect((await addEndpoint(renewed)).data.id).toBe(endpointId)
    expect((await renewed.webhookEndpoints.getSecret({ endpointId })).data.secret).toBe(secret)
    expect((await renewed.emailConfig.get()).data).toEqual(emailConfig)
    await addThread(renewed, 'after')
    const later = async () => (await renewed.events.get({ after: position.after })).data.events
    await expect.poll(async () => (await later()).length).toBe(1)
    expect(JSON.stringify(await later())).toContain('after')
    const document = plenumConnection(renewed, userToken).document('acme', 'plan')
    await expect.poll(() => document.status).toBe('connected')
    // The mail is sent again later.
    after.clock.offsetMs = 60_000
    const outbox = join(settings.DATA_DIR ?? '', 'outbox')
    await expect.poll(() => (existsSync(outbox) ? readdirSync(outbox) : [])).toHaveLength(1)
    await after.end()

    const again = [
      'rotate-secret',
      '--sign-out-users',
      '--yes',
      ...(usesFile ? [] : ['--new-secret', `${newFile}-2`]),
    ]
    expect(await runCommand(again, changed)).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/encrypted again: \d+/),
    })
    const last = usesFile
      ? settings
      : { ...settings, SECRET_KEY: readFileSync(`${newFile}-2`, 'utf8').trim() }
    const { url } = await startWith(last)
    const signedOut = createClient({ url, token: userToken })
    await expect(
      signedOut.commentAnnotations.get({ organizationId: 'acme', documentIds: ['plan'] }),
    ).rejects.toMatchObject({ status: 'UNAUTHENTICATED' })
  })
})

test('[D7.2] a rotation asks first, and one that was interrupted after it changed the database is finished by the next run', async () => {
  const settings = await newSettings('sqlite')
  const server = await startWith(settings)
  await given.tenant(server)
  await server.end()
  const asked = await runCommand(['rotate-secret'], settings)
  expect(asked.code).toBe(2)
  expect(asked.stderr).toContain('the auth tokens of all workspaces and API keys')
  await runCommand(['rotate-secret', '--yes'], settings)
  // As if the process had been killed before it replaced the file.
  const data = settings.DATA_DIR ?? ''
  const old = readdirSync(data).find((name) => name.startsWith('secret.key.before-')) ?? ''
  renameSync(join(data, 'secret.key'), join(data, 'secret.key.new'))
  renameSync(join(data, old), join(data, 'secret.key'))
  expect((await runCommand(['token'], settings)).stderr).toContain('SECRET_KEY does not match')

  const finished = await runCommand(['rotate-secret', '--yes'], settings)
  expect(finished).toMatchObject({ code: 0, stderr: expect.stringContaining('already match') })
  expect(readdirSync(data)).not.toContain('secret.key.new')
  // A server starts only with the secret of its database.
  await startWith(settings)
})
