import { createClient } from '@plenum/client'
import { expect, test } from 'vitest'
import { stores } from '../support/harness.ts'
import { plenumConnection } from '../support/clients/plenum-client.ts'
import { runCommand } from '../support/processes/process.ts'
import { settingsBeforeStart, startWith } from '../support/processes/settings.ts'

test.each(stores)(
  '[D2] [D2.1] token creates a workspace beside a running server on %s, and its tokens are valid there, and without the secret, or with several API keys and no choice, it prints none',
  async (store) => {
    const settings = await settingsBeforeStart(store)
    const before = await runCommand(['token'], settings)
    expect(before.code).toBe(1)
    expect(before.stderr).toMatch(/^plenum token: .+plenum start\n$/)

    const { url } = await startWith({ ...settings, WORKSPACE_CREATION: 'closed' })
    const without = await runCommand(['token'], settings)
    expect(without).toMatchObject({ code: 1, stdout: '' })
    expect(without.stderr).toContain('plenum token --create-workspace')

    const user = await runCommand(
      ['token', '--create-workspace', 'Demo', '--user', 'ada', '--name', 'Ada', '--organization', 'acme'],
      settings,
    )
    expect(user.code).toBe(0)
    const apiKey = /API key (\S+) /.exec(user.stderr)?.[1] ?? ''
    const workspaceId = /workspace (ws_\w+)/.exec(user.stderr)?.[1] ?? ''

    const backend = await runCommand(['token', '--kind', 'backend', '--api-key', apiKey], settings)
    const client = createClient({ url, apiKey, authToken: backend.stdout.trim() })
    await client.organizations.add({ organizations: [{ organizationId: 'acme' }] })

    const workspace = await runCommand(['token', '--kind', 'workspace'], settings)
    const owner = createClient({ url, workspaceId, workspaceAuthToken: workspace.stdout.trim() })
    expect((await owner.workspace.get({})).data.name).toBe('Demo')

    const live = plenumConnection(client, user.stdout.trim())
    const document = live.document('acme', 'plan')
    await expect.poll(() => document.status).toBe('connected')
    expect(document.presence.self).toMatchObject({ userId: 'ada', name: 'Ada' })

    await runCommand(['token', '--create-workspace', 'Two'], settings)
    const several = await runCommand(['token'], settings)
    expect(several).toMatchObject({ code: 1, stdout: '' })
    expect(several.stderr.match(/ key_\w+/g)).toHaveLength(2)

    const other = { ...settings, SECRET_KEY: 'another secret key of at least 32 letters' }
    const refused = await runCommand(['token'], other)
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toMatch(/^plenum token: SECRET_KEY does not match this database\./)
  },
)
