import { readSettings } from '../start/settings.ts'
import type { Db } from '../store/engine/db.ts'
import * as workspaces from '../store/workspaces.ts'
import { openShared } from './database.ts'
import type { ListOptions } from './list.ts'
import { say } from './output.ts'

const pageSize = 500

type Listed = Pick<workspaces.Workspace, 'workspaceId' | 'name'> & {
  ownerEmail: string
  apiKeys: { id: string; name: string; type: string }[]
}

/** Prints the workspaces in the order of their ids. */
export async function listWorkspaces({ json }: ListOptions): Promise<void> {
  const { config } = readSettings()
  const { read, close } = await openShared(config)
  const print = json ? JSON.stringify : describe
  let count = 0
  try {
    for await (const workspace of allWorkspaces(read)) {
      console.log(print(workspace))
      count++
    }
  } finally {
    await close()
  }
  if (count === 0)
    say('There is no workspace yet. Create one with: plenum token --create-workspace "My Workspace"')
}

async function* allWorkspaces(db: Db): AsyncGenerator<Listed> {
  let after = ''
  for (;;) {
    const page = await workspaces.page(db, after, pageSize)
    for (const workspace of page) {
      const keys = await workspaces.apiKeys(db, workspace.workspaceId)
      yield { ...workspace, apiKeys: keys.map(({ apiKey, name, type }) => ({ id: apiKey, name, type })) }
    }
    if (page.length < pageSize) return
    after = page.at(-1)?.workspaceId ?? ''
  }
}

/** Names may contain anything. As JSON, they cannot control the terminal. */
function describe({ workspaceId, name, ownerEmail, apiKeys }: Listed): string {
  const keys = apiKeys.map((key) => `  ${key.id}  ${key.type.padEnd(10)}  ${JSON.stringify(key.name)}`)
  return [`${workspaceId}  ${JSON.stringify(name)}, owner ${ownerEmail}`, ...keys].join('\n')
}
