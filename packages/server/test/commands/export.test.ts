import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { createClient } from '@plenum/client'
import { expect, test } from 'vitest'
import { newFolder } from '../support/data/folders.ts'
import { startServer, stores } from '../support/harness.ts'
import { runCommand } from '../support/processes/process.ts'
import { settingsBeforeStart } from '../support/processes/settings.ts'
import { filledServer, newInstallation, workspaceRows } from '../support/data/transfers.ts'

test.each(stores)(
  '[D9] [D9.1] [D9.2] [D10] [D10.1] [D10.3] a workspace of %s is the same after its import into the other database and into a new installation',
  async (store) => {
    const { tenant, data, settings } = await filledServer(store)
    const { workspaceId, apiKey } = tenant
    const source = await workspaceRows(data, tenant)
    expect(Object.keys(source).filter((table) => source[table]?.length === 0)).toEqual(['imports'])

    const file = join(newFolder(), 'workspace.jsonl.gz')
    const exported = await runCommand(['export', '--workspace', workspaceId, '--to', file], settings)
    expect(exported).toMatchObject({ code: 0, stdout: `${file}\n` })
    expect(exported.stderr).toContain(`set the credential of email again, for API key ${apiKey}`)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const text = gunzipSync(readFileSync(file)).toString()
    expect(text).toContain('"bytes":"')
    expect(text).not.toMatch(/private_jwk|"secret"|"previous_secret"/)

    const other = await newInstallation(store === 'sqlite' ? 'postgres' : 'sqlite')
    const imported = await runCommand(['import', '--from', file], other.settings)
    expect(imported).toMatchObject({ code: 0, stdout: `${workspaceId}\n` })
    expect(imported.stderr).toContain('set the credential of email again')
    const token = await runCommand(['token', '--kind', 'backend', '--api-key', apiKey], other.settings)
    const client = createClient({ url: other.server.url, apiKey, authToken: token.stdout.trim() })
    const editor = { organizationId: 'org_t', documentId: 'doc_t', editorId: 'note' }
    expect((await client.crdt.get(editor)).data).toMatchObject([{ data: 'Hello' }])
    const { events } = (await client.events.get({ names: ['comment_annotation.add'], limit: 500 })).data
    expect(JSON.stringify(events)).toContain('Before')
    const [endpoint] = (await client.webhookEndpoints.get()).data.endpoints
    const { secret } = (await client.webhookEndpoints.getSecret({ endpointId: endpoint!.id })).data
    expect(secret).toMatch(/^whsec_/)
    await other.server.terminate()
    expect(await workspaceRows(other.data, tenant)).toEqual(source)

    const again = join(newFolder(), 'again.jsonl')
    await runCommand(['export', '--workspace', workspaceId, '--to', again], other.settings)
    const back = await settingsBeforeStart(store)
    expect(await runCommand(['import', '--from', again], back)).toMatchObject({ code: 0 })
    const { DATA_DIR: dataDir = '', DATABASE_URL: databaseUrl } = back
    expect(await workspaceRows({ dataDir, databaseUrl }, tenant)).toEqual(source)
  },
)

test('[D9] an export of an unknown workspace, or over an existing file, is refused', async () => {
  const { data, settings } = await filledServer('sqlite')
  const server = await startServer('sqlite', { data })
  const file = join(newFolder(), 'none.jsonl')
  const unknown = await runCommand(['export', '--workspace', 'ws_none', '--to', file], settings)
  const stderr = expect.stringMatching(/^plenum export: There is no workspace ws_none\. Workspaces: \w+\.\n$/)
  expect(unknown).toMatchObject({ code: 1, stderr })
  const over = await runCommand(
    ['export', '--workspace', 'ws_none', '--to', `${data.dataDir}/plenum.db`],
    settings,
  )
  expect(over).toMatchObject({ code: 1, stderr: expect.stringContaining('exists already') })
  await server.stop()
})
