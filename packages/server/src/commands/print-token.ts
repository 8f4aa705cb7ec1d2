import { chosenIdRule, isChosenId } from '@plenum/protocol'
import { isBackendUserId } from '../access/backend-users.ts'
import { mintAuthToken } from '../access/credentials/auth-tokens.ts'
import type { Secrets } from '../access/credentials/secrets.ts'
import { normalizeEmail } from '../access/domains/emails.ts'
import { createUserTokens } from '../access/tokens/user-tokens.ts'
import { type Config, newKeyOptionsOf } from '../config.ts'
import { addWorkspace } from '../operations/shared/new-workspace.ts'
import { readSettings } from '../start/settings.ts'
import * as apiKeys from '../store/api-keys.ts'
import type { SharedDatabase } from '../store/engine/sqlite-beside.ts'
import * as workspaces from '../store/workspaces.ts'
import { openOrCreate, openShared, secretsOf } from './database.ts'
import { CommandError, UsageError } from './failure.ts'
import { say } from './output.ts'
import type { TokenOptions } from './token.ts'

/** A list that is printed names at most this many API keys. */
const maxListedKeys = 20

export async function printToken(options: TokenOptions): Promise<void> {
  const { config } = readSettings()
  checkOptions(options)
  const open = options.createWorkspace === undefined ? openShared : openOrCreate
  const database = await open(config)
  try {
    const secrets = await secretsOf(config, database)
    if (options.createWorkspace !== undefined) await createWorkspace(options, config, database)
    const { apiKey, workspaceId } = await chooseKey(options, database)
    say(`API key ${apiKey} of workspace ${workspaceId}`)
    console.log(await tokenOf(options, { apiKey, workspaceId }, database, secrets))
  } finally {
    await database.close()
  }
}

function checkOptions({ user, email, organization, document }: TokenOptions): void {
  if (!isChosenId(user)) throw new UsageError(`--user ${chosenIdRule}`)
  if (isBackendUserId(user)) throw new UsageError(`--user "${user}" is reserved for backends.`)
  if (email !== undefined && normalizeEmail(email) === null) {
    throw new UsageError('--email must be a valid email address.')
  }
  if (document !== undefined && organization === undefined) {
    throw new UsageError('--document needs --organization: the organization of the document.')
  }
  for (const [option, id] of Object.entries({ organization, document })) {
    if (id !== undefined && !isChosenId(id)) throw new UsageError(`--${option} ${chosenIdRule}`)
  }
}

async function createWorkspace(
  options: TokenOptions,
  config: Config,
  database: SharedDatabase,
): Promise<void> {
  const email = normalizeEmail(options.ownerEmail)
  if (email === null) throw new UsageError('--owner-email must be a valid email address.')
  const name = options.createWorkspace?.trim() ?? ''
  if (name === '' || name.length > 256)
    throw new UsageError('--create-workspace must have 1 to 256 characters.')
  const now = Date.now()
  const owner = { email, name: email, avatar: '' }
  const newKeyOptions = newKeyOptionsOf(config)
  const created = await database.write(async (db) => {
    const workspace = await addWorkspace(db, { name, owner, newKeyOptions, now })
    const [key] = await workspaces.apiKeys(db, workspace.workspaceId)
    return { workspaceId: workspace.workspaceId, apiKey: key?.apiKey }
  })
  options.apiKey = created.apiKey ?? ''
  say(`Created the workspace ${created.workspaceId}.`)
}

/** The API key of the options, or the only one that exists. */
async function chooseKey(
  { apiKey }: TokenOptions,
  { read }: SharedDatabase,
): Promise<{ apiKey: string; workspaceId: string }> {
  if (apiKey !== undefined) {
    const found = await apiKeys.find(read, apiKey)
    if (!found) throw new CommandError(`There is no API key ${apiKey}.`)
    return found.key
  }
  const keys = await apiKeys.some(read, maxListedKeys + 1)
  const [only] = keys
  if (only && keys.length === 1) return only
  if (!only) {
    throw new CommandError(
      'There is no workspace yet. Create one with: plenum token --create-workspace "My Workspace"',
    )
  }
  const listed = keys.slice(0, maxListedKeys).map((key) => `  ${key.apiKey}  ${key.name}`)
  const more = keys.length > maxListedKeys ? ['  …'] : []
  throw new CommandError(
    ['There are several API keys. Choose one with --api-key:', ...listed, ...more].join('\n'),
  )
}

async function tokenOf(
  { kind, user, name, email, admin, organization, document, role, hours }: TokenOptions,
  { apiKey, workspaceId }: { apiKey: string; workspaceId: string },
  database: SharedDatabase,
  secrets: Secrets,
): Promise<string> {
  if (kind === 'workspace') {
    const workspace = await workspaces.find(database.read, workspaceId)
    if (!workspace) throw new CommandError(`There is no workspace ${workspaceId}.`)
    return mintAuthToken(secrets.authTokenKey, workspaceId, workspace.token)
  }
  if (kind === 'backend') {
    const [record] = (await apiKeys.find(database.read, apiKey))?.tokens ?? []
    if (!record)
      throw new CommandError(`The API key ${apiKey} has no auth token. Create one with authTokens.reset.`)
    return mintAuthToken(secrets.authTokenKey, apiKey, record)
  }
  const grant =
    document === undefined
      ? { type: 'organization', id: organization }
      : { type: 'document', id: document, organizationId: organization }
  const resources = organization === undefined ? [] : [{ ...grant, accessRole: role }]
  say(`User ${user}, valid for ${hours} hours`)
  return createUserTokens(database, secrets).sign(
    {
      apiKey,
      userId: user,
      userProperties: {
        isAdmin: admin ?? false,
        ...(name !== undefined && { name }),
        ...(email !== undefined && { email }),
      },
      permissions: { resources },
      validForSeconds: Math.floor(hours * 60 * 60),
    },
    Date.now(),
  )
}
