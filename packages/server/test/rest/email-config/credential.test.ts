import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { stores, type TestServer, useServer } from '../../support/harness.ts'

const update = '/v2/workspace/emailconfig/update'
const invalid = {
  status: 400,
  body: { error: { status: 'INVALID_ARGUMENT', message: 'Invalid email service configuration.' } },
}
const unset = {
  type: 'default',
  apiKey: '',
  fromEmail: '',
  fromCompany: '',
  commentTemplateId: '',
  tagTemplateId: '',
}

describe.each(stores)('email credential on %s', (store) => {
  const server = useServer(store, { isOwn: true })
  const tenant = async () => {
    const found = await given.tenant(server)
    return {
      ...found,
      change: (data: unknown) => server.post(update, { data }, found.headers),
      config: async () => (await found.client.emailConfig.get()).data,
    }
  }

  const sendgrid = { type: 'sendgrid' as const, apiKey: 'SG.1234567890abc' }

  test('[4.2] [3.2.2] sendgrid requires a credential while the email service is on, and an empty string removes it while the service is off', async () => {
    const { change, client, config } = await tenant()
    expect(await change({ emailServiceConfig: { type: 'sendgrid' } })).toMatchObject({ status: 200 })
    expect(await change({ useEmailService: true })).toMatchObject(invalid)
    expect(await config()).toMatchObject({ useEmailService: false })
    expect(await change({ useEmailService: true, emailServiceConfig: sendgrid })).toMatchObject({
      status: 200,
    })
    expect(await change({ emailServiceConfig: { apiKey: '' } })).toMatchObject(invalid)
    await client.emailConfig.update({ useEmailService: false, emailServiceConfig: { apiKey: '' } })
    expect((await config()).emailServiceConfig.apiKey).toBe('')
  })

  test('[3.1] get shows only dots for a credential so short that the mask would reveal half of it', async () => {
    const { client, config } = await tenant()
    await client.emailConfig.update({ emailServiceConfig: { apiKey: 'SG.45678.012' } })
    expect((await config()).emailServiceConfig.apiKey).toBe('...')
    await client.emailConfig.update({ emailServiceConfig: { apiKey: 'SG.45678.0123' } })
    expect((await config()).emailServiceConfig.apiKey).toBe('SG....123')
  })

  test('[3.2.2] update keeps the stored credential when a caller sends back the masked one', async () => {
    const { client, config, apiKey } = await tenant()
    await client.emailConfig.update({ useEmailService: true, emailServiceConfig: sendgrid })
    const read = await config()
    await client.emailConfig.update(read)
    expect(await config()).toEqual(read)
    const { secret } = await server.database.read
      .selectFrom('service_configs')
      .select('secret')
      .where('api_key', '=', apiKey)
      .executeTakeFirstOrThrow()
    expect(server.secrets.unseal(secret!, `service_configs/${apiKey}/email`).toString()).toBe(sendgrid.apiKey)
  })

  test('[3.1] no file, row, response or log line contains the credential in plain text', async () => {
    const canary = 'SG.canary-Zq81xKw77-never-in-clear'
    const { client, change, config, apiKey } = await tenant()
    await client.emailConfig.update(
      { useEmailService: true, emailServiceConfig: { type: 'sendgrid', apiKey: canary } },
      { idempotencyKey: 'canary' },
    )
    expect(await change({ emailServiceConfig: { apiKey: canary, fromEmail: 'nobody' } })).toMatchObject(
      invalid,
    )
    expect(await change({ emailServiceConfig: { apiKey: `${canary}\n` } })).toMatchObject(invalid)
    expect(JSON.stringify(await config())).not.toContain('canary')
    const stored = await everythingStored(server)
    expect(stored.some((text) => text.includes(apiKey))).toBe(true)
    expect(server.logged).not.toEqual([])
    for (const text of [...stored, ...server.logged]) {
      expect(text).not.toContain(canary)
      expect(text).not.toContain(Buffer.from(canary).toString('hex'))
    }
  })

  test('[0.2.1] two API keys have separate email configurations', async () => {
    const one = await tenant()
    const other = await tenant()
    await one.client.emailConfig.update({ useEmailService: true, emailServiceConfig: sendgrid })
    expect(await other.config()).toEqual({ useEmailService: false, emailServiceConfig: unset })
  })
})

/** Returns all that is stored: the files of SQLite, or every row of every table of PostgreSQL. */
async function everythingStored({ database }: TestServer): Promise<string[]> {
  if (database.dialect === 'sqlite') {
    const { rows } = await sql<{ file: string }>`select file from pragma_database_list`.execute(database.read)
    const folder = dirname(rows[0]!.file)
    return readdirSync(folder).map((file) => readFileSync(join(folder, file), 'latin1'))
  }
  const tables = await database.read.introspection.getTables()
  const texts: string[] = []
  for (const { name } of tables) {
    const { rows } = await sql<{
      row: string
    }>`select to_json(t)::text as row from ${sql.table(name)} t`.execute(database.read)
    texts.push(...rows.map(({ row }) => row))
  }
  return texts
}
