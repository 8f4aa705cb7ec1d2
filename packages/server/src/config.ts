import { type LogLevel, logLevels } from './platform/log/log-level.ts'
import type { ApiKeyOptions } from './store/api-keys.ts'
import type { Durability } from './store/engine/db.ts'

/** Every number of spec 0.7 that an operator may change. */
export interface Limits {
  bodyBytes: number
  crdtBodyBytes: number
  jsonDepth: number
  /** All keys of one body: making an object costs V8 microseconds a key. CRDT data is not counted. */
  jsonKeys: number
  /** Strings, arrays and objects of one body, likewise. */
  jsonValues: number
  createWorkspacePerHour: number
  workspaceRequestsPerMinute: number
  /** 0 is unlimited. */
  apiKeyRequestsPerMinute: number
  workspacesPerOwner: number
  productionKeysPerWorkspace: number
  /** WebSockets of this server. */
  connections: number
  /** Documents that one user may create by opening them; 0 is unlimited. */
  createdByOpeningPerMinute: number
  /** Documents that all users of an API key may create by opening them, each day (UTC); 0 is unlimited. */
  createdByOpeningPerDay: number
  /** What one editor may store: its snapshot and the updates after it. */
  editorBytes: number
  /** Editors that clients may create in one document. */
  editorsPerDocument: number
}

export interface Config {
  port: number
  host: string
  dataDir: string
  databaseUrl: string | undefined
  databasePoolSize: number
  /** How long PostgreSQL may take for a statement. */
  databaseTimeoutSeconds: number
  /** Undefined: generated into the data folder. */
  secretKey: string | undefined
  durability: Durability
  trustedProxyHops: number
  /** Origins of the server's own pages, beside IP addresses and `localhost`. */
  publicOrigins: readonly string[]
  logLevel: LogLevel
  /** Undefined: `pretty` in a terminal, otherwise `json`. */
  logFormat: 'pretty' | 'json' | undefined
  /** Whether a terminal may be sent colors. */
  colors: boolean
  disposableDomains: readonly string[]
  disposableDomainsExcept: readonly string[]
  /** `closed`: Create Workspace refuses everybody. */
  workspaceCreation: 'open' | 'closed'
  /** Of new API keys. */
  defaultDocumentAccess: ApiKeyOptions['defaultDocumentAccessType']
  /** How long a request may take to arrive. */
  requestTimeoutSeconds: number
  shutdownSeconds: number
  limits: Limits
}

const documentAccess = ['public', 'organizationPrivate', 'restricted'] as const

/** A setting that cannot be used; the message names the variable and what it accepts. */
export class ConfigError extends Error {}

const makeSecret = `node -p 'crypto.randomBytes(32).toString("base64url")'`

type Environment = Readonly<Record<string, string | undefined>>

/** Reads the environment once. Nothing else in the server looks at it. */
export function readConfig(env: Environment): Config {
  const text = (name: string) => env[name]?.trim() || undefined
  const faults: string[] = []
  const fail = (name: string, accepted: string) => void faults.push(`${name} must be ${accepted}.`)
  const integer = (name: string, byDefault: number, least: number, most: number) => {
    const value = text(name)
    if (value === undefined) return byDefault
    const number = Number(value)
    if (!/^\d+$/.test(value) || number < least || number > most) {
      fail(name, `a whole number from ${least} to ${most}, but is "${value}"`)
    }
    return number
  }
  const choice = <const T extends string, D extends T | undefined>(
    name: string,
    values: readonly T[],
    byDefault: D,
  ): T | D => {
    const value = text(name)
    if (value === undefined) return byDefault
    const found = values.find((one) => one === value)
    if (found === undefined) fail(name, `one of ${values.join(', ')}, but is "${value}"`)
    return found ?? byDefault
  }
  const url = (name: string, protocols: readonly string[]) => {
    const value = text(name)
    if (value === undefined) return undefined
    // The value may hold a password, so it is not repeated.
    if (!URL.canParse(value) || !protocols.includes(new URL(value).protocol)) {
      fail(name, `an address beginning with ${protocols.map((one) => `${one}//`).join(' or ')}`)
    }
    return value
  }
  const origins = (name: string) =>
    list(name).flatMap((value) => {
      const isWeb = URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)
      if (!isWeb) fail(name, `addresses beginning with http:// or https://, but is "${value}"`)
      return isWeb ? [new URL(value).origin] : []
    })
  const list = (name: string) => (text(name) ?? '').split(/[\s,]+/).filter(Boolean)

  const databaseUrl = url('DATABASE_URL', ['postgres:', 'postgresql:'])
  const secretKey = text('SECRET_KEY')
  if (secretKey !== undefined && secretKey.length < 32)
    fail('SECRET_KEY', `at least 32 characters long; make one with: ${makeSecret}`)
  if (databaseUrl !== undefined && secretKey === undefined) {
    fail('SECRET_KEY', `set when DATABASE_URL is, and the same at every start; make one with: ${makeSecret}`)
  }

  const config: Config = {
    port: integer('PORT', 4000, 0, 65_535),
    host: text('HOST') ?? 'localhost',
    dataDir: text('DATA_DIR') ?? './data',
    databaseUrl,
    databasePoolSize: integer('DATABASE_POOL_SIZE', 20, 1, 1000),
    databaseTimeoutSeconds: integer('DATABASE_TIMEOUT_SECONDS', 10, 1, 3600),
    secretKey,
    durability: choice('DURABILITY', ['full', 'relaxed'], 'full'),
    publicOrigins: origins('PUBLIC_URL'),
    trustedProxyHops: integer('TRUSTED_PROXY_HOPS', 0, 0, 10),
    logLevel: choice('LOG_LEVEL', logLevels, 'info'),
    logFormat: choice('LOG_FORMAT', ['pretty', 'json'], undefined),
    colors: text('NO_COLOR') === undefined,
    disposableDomains: list('DISPOSABLE_DOMAINS'),
    disposableDomainsExcept: list('DISPOSABLE_DOMAINS_EXCEPT'),
    workspaceCreation: choice('WORKSPACE_CREATION', ['open', 'closed'], 'open'),
    defaultDocumentAccess: choice('DEFAULT_DOCUMENT_ACCESS', documentAccess, 'public'),
    requestTimeoutSeconds: integer('REQUEST_TIMEOUT_SECONDS', 30, 1, 3600),
    shutdownSeconds: integer('SHUTDOWN_SECONDS', 10, 1, 300),
    limits: {
      bodyBytes: integer('LIMIT_BODY_BYTES', 1024 * 1024, 1024, 1024 ** 3),
      crdtBodyBytes: integer('LIMIT_CRDT_BODY_BYTES', 10 * 1024 * 1024, 1024, 1024 ** 3),
      jsonDepth: integer('LIMIT_JSON_DEPTH', 64, 8, 1000),
      jsonKeys: integer('LIMIT_JSON_KEYS', 10_000, 1000, 10_000_000),
      jsonValues: integer('LIMIT_JSON_VALUES', 50_000, 1000, 100_000_000),
      createWorkspacePerHour: integer('LIMIT_CREATE_WORKSPACE_PER_HOUR', 10, 0, 1_000_000),
      workspaceRequestsPerMinute: integer('LIMIT_WORKSPACE_REQUESTS_PER_MINUTE', 60, 0, 10_000_000),
      apiKeyRequestsPerMinute: integer('LIMIT_API_KEY_REQUESTS_PER_MINUTE', 0, 0, 100_000_000),
      workspacesPerOwner: integer('LIMIT_WORKSPACES_PER_OWNER', 5, 1, 1_000_000),
      productionKeysPerWorkspace: integer('LIMIT_PRODUCTION_KEYS', 10, 0, 1_000_000),
      editorBytes: integer('LIMIT_EDITOR_BYTES', 32 * 1024 * 1024, 64 * 1024, 1024 ** 3),
      connections: integer('LIMIT_CONNECTIONS', 20_000, 0, 10_000_000),
      createdByOpeningPerMinute: integer('LIMIT_CREATED_BY_OPENING_PER_MINUTE', 100, 0, 1_000_000),
      createdByOpeningPerDay: integer('LIMIT_CREATED_BY_OPENING_PER_DAY', 100_000, 0, 1_000_000_000),
      editorsPerDocument: integer('LIMIT_EDITORS_PER_DOCUMENT', 1000, 1, 100_000),
    },
  }
  if (faults.length > 0) throw new ConfigError(faults.join('\n'))
  return config
}

/** Every name that `readConfig` looks at. */
export function settingNames(): string[] {
  const names = new Set<string>()
  readConfig(new Proxy({}, { get: (_, name) => void names.add(String(name)) }))
  return [...names]
}
