import { createClient } from '@plenum/client'
import { expect, test } from 'vitest'
import { stores } from '../support/harness.ts'
import { runCommand } from '../support/processes/process.ts'
import { settingsBeforeStart, startWith } from '../support/processes/settings.ts'

test.each(stores)(
  '[D2.2] [D11] token creates a new installation on %s, list prints its workspaces and API keys, and a server continues with it',
  async (store) => {
    const settings = await settingsBeforeStart(store)
    const name = 'Demo "\u001b[31mred"'
    const created = await runCommand(
      ['token', '--create-workspace', name, '--owner-email', 'ada@example.com', '--kind', 'backend'],
      settings,
    )
    expect(created).toMatchObject({ code: 0, stderr: expect.stringContaining('Created the database.\n') })
    const apiKey = /API key (\S+) /.exec(created.stderr)?.[1] ?? ''
    const again = await runCommand(['token', '--create-workspace', 'Two'], settings)
    expect(again).toMatchObject({ code: 0, stderr: expect.not.stringContaining('Created the database') })

    const { url } = await startWith(settings)
    const json = await runCommand(['list', '--json'], settings)
    const listed = json.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(listed.find((workspace) => workspace.name === name)).toEqual({
      workspaceId: expect.stringMatching(/^ws_\w+$/),
      name,
      ownerEmail: 'ada@example.com',
      apiKeys: [{ id: apiKey, name: expect.any(String), type: 'testing' }],
    })
    expect(listed).toHaveLength(2)
    const text = await runCommand(['list'], settings)
    expect(text).toMatchObject({ code: 0, stderr: '' })
    expect(text.stdout).toMatch(/^ws_\w+ {2}"Two", owner owner@example\.invalid$/m)
    expect(text.stdout).toMatch(new RegExp(`^ {2}${apiKey} {2}testing `, 'm'))
    expect(text.stdout).not.toContain('\u001b')

    const client = createClient({ url, apiKey, authToken: created.stdout.trim() })
    expect((await client.organizations.get()).data).toEqual([])
  },
)
