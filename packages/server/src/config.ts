import { type LogLevel, logLevels } from './platform/log/log-level.ts'
import { isAddressRange, type PrivateAddresses } from './platform/outgoing/allowed-addresses.ts'
import type { ApiKeyOptions } from './store/api-keys.ts'
import type { Durability } from './store/engine/db.ts'

/** The limits of spec 0.7 that an operator may change. */
export interface Limits {
  bodyBytes: number
  /** The same for operations that write CRDT data. */
  crdtBodyBytes: number
  jsonDepth: number
  /** Keys in one body. V8 needs microseconds for each key when it builds an object. CRDT data has its own limits. */
  jsonKeys: number
  /** Strings, arrays and objects in one body. CRDT data has its own limits. */
  jsonValues: number
  /** Per client address; 0 is unlimited. */
  createWorkspacePerHour: number
  /** Per client address and operation; 0 is unlimited. */
  loginLinksPerHour: number
  /** Per workspace; 0 is unlimited. */
  workspaceRequestsPerMinute: number
  /** Per API key; 0 is unlimited. */
  apiKeyRequestsPerMinute: number
  userRequestsPerMinute: number
  /** Workspaces that have the same email address of the owner. */
  workspacesPerOwner: number
  /** 0: no workspace may create production API keys. */
  productionKeysPerWorkspace: number
  /** WebSockets on this server. */
  connections: number
  /** Documents that one user may create by opening them, each minute; 0 is unlimited. */
  createdByOpeningPerMinute: number
  /** Documents that all users of an API key may create by opening them, each day (UTC); 0 is unlimited. */
  createdByOpeningPerDay: number
  /** Bytes that one editor may store: its snapshot and the updates after it. */
  editorBytes: number
  /** Clients can create an editor only while its document has fewer editors than this. */
  editorsPerDocument: number
}

export interface Config {
  port: number
  host: string
  dataDir: string
  databaseUrl: string | undefined
  /** The same database, for the messages between servers, if `databaseUrl` leads to a pooler. Default: `databaseUrl`. */
  databaseListenUrl: string | undefined
  /** Passes messages between servers, instead of PostgreSQL. Contains a password. */
  redisUrl: string | undefined
  databasePoolSize: number
  /** How long one PostgreSQL statement may take. */
  databaseTimeoutSeconds: number
  /** Undefined: the server generates a key and stores it in the data folder. */
  secretKey: string | undefined
  /** Whether an acknowledged write survives a power failure (`full`) or only a crash of the process (`relaxed`). */
  durability: Durability
  /** The number of proxies in front of the server that append to `X-Forwarded-For`. 0: the header is ignored. */
  trustedProxyHops: number
  /**
   * The origins at which browsers reach the server, besides IP addresses and `localhost`. Pages from them may use every API
   * key.
   */
  publicOrigins: readonly string[]
  logLevel: LogLevel
  /** Undefined: `pretty` in a terminal, otherwise `json`. */
  logFormat: 'pretty' | 'json' | undefined
  /** Whether log lines in a terminal are colored. */
  colors: boolean
  /** Email domains to treat as disposable besides the built-in list. */
  disposableDomains: readonly string[]
  /** Email domains to accept although they are listed. */
  disposableDomainsExcept: readonly string[]
  /** The mail server. Undefined: mails are written to files. Contains a password. */
  smtpUrl: string | undefined
  /** The sender of mails of API keys without `fromEmail`. */
  mailFrom: string | undefined
  /** Hosts at which login links may lead, besides `localhost`. */
  consoleHosts: readonly string[]
  /** `closed`: Create Workspace refuses every caller. */
  workspaceCreation: 'open' | 'closed'
  /** Whether the server may connect to private addresses when it calls a URL that a tenant has set. */
  outgoingPrivateAddresses: PrivateAddresses
  /** CIDR ranges that webhooks may reach although they are not public. */
  webhookAllowedRanges: readonly string[]
  /** The default access type of documents under new API keys. */
  defaultDocumentAccess: ApiKeyOptions['defaultDocumentAccessType']
  defaultDocumentCreation: ApiKeyOptions['documentCreation']
  /** How long events stay in the event log. */
  eventRetentionDays: number
  /** How long a request may take to arrive. Its headers may take at most 10 seconds. */
  requestTimeoutSeconds: number
  /** How long accepted requests may take to finish after SIGTERM. */
  shutdownSeconds: number
  limits: Limits
}

const documentAccess = ['public', 'organizationPrivate', 'restricted'] as const

/** Thrown for invalid settings. The message names each setting and the values that it accepts. */
export class ConfigError extends Error {}

const secretCommand = `node -p 'crypto.randomBytes(32).toString("base64url")'`

type Environment = Readonly<Record<string, string | undefined>>

/** The settings of the database, as `openDatabase` takes them. */
export const databaseSettingsOf = (config: Config) => ({
  url: config.databaseUrl,
  dataDir: config.dataDir,
  durability: config.durability,
  poolSize: config.databasePoolSize,
  timeoutMs: config.databaseTimeoutSeconds * 1000,
})

/** Reads the settings from the environment. No other code of the server reads settings from it. */
export function readConfig(env: Environment): Config {
  const text = (name: string) => env[name]?.trim() || undefined
  const problems: string[] = []
  const fail = (name: string, accepted: string) => void problems.push(`${name} must be ${accepted}.`)
  const integer = (name: string, defaultValue: number, min: number, max: number) => {
    const value = text(name)
    if (value === undefined) return defaultValue
    const number = Number(value)
    if (!/^\d+$/.test(value) || number < min || number > max) {
      fail(name, `a whole number from ${min} to ${max}, but is "${value}"`)
    }
    return number
  }
  const choice = <const T extends string, D extends T | undefined>(
    name: string,
    values: readonly T[],
    defaultValue: D,
  ): T | D => {
    const value = text(name)
    if (value === undefined) return defaultValue
    const found = values.find((one) => one === value)
    if (found === undefined) fail(name, `one of ${values.join(', ')}, but is "${value}"`)
    return found ?? defaultValue
  }
  const url = (name: string, protocols: readonly string[]) => {
    const value = text(name)
    if (value === undefined) return undefined
    // The value may contain a password, so the message does not repeat it.
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
  const ranges = (name: string) =>
    list(name).filter((value) => {
      if (isAddressRange(value)) return true
      fail(name, `CIDR ranges such as 10.0.0.0/8 or fd00::/8, but is "${value}"`)
      return false
    })
  const hosts = (name: string) =>
    list(name).map((value) => {
      const host = value.toLowerCase()
      const isHost = URL.canParse(`http://${host}`) && new URL(`http://${host}`).hostname === host
      if (!isHost) fail(name, `hosts such as console.example.com, without a port, but is "${value}"`)
      return host
    })
  const list = (name: string) => (text(name) ?? '').split(/[\s,]+/).filter(Boolean)

  const databaseUrl = url('DATABASE_URL', ['postgres:', 'postgresql:'])
  const databaseListenUrl = url('DATABASE_LISTEN_URL', ['postgres:', 'postgresql:'])
  if (databaseListenUrl !== undefined && databaseUrl === undefined)
    fail('DATABASE_LISTEN_URL', 'unset without DATABASE_URL')
  const redisUrl = url('REDIS_URL', ['redis:', 'rediss:'])
  if (redisUrl !== undefined && databaseUrl === undefined)
    fail('REDIS_URL', 'unset without DATABASE_URL, because the embedded database has one server only')
  const secretKey = text('SECRET_KEY')
  if (secretKey !== undefined && secretKey.length < 32)
    fail('SECRET_KEY', `at least 32 characters long; make one with: ${secretCommand}`)
  if (databaseUrl !== undefined && secretKey === undefined) {
    fail(
      'SECRET_KEY',
      `set when DATABASE_URL is, and the same at every start; for a new database, make one with: ${secretCommand}`,
    )
  }

  const smtpUrl = url('SMTP_URL', ['smtp:', 'smtps:'])
  if (smtpUrl?.match(/^smtps?:/) && URL.canParse(smtpUrl)) {
    const { hostname, username, password } = new URL(smtpUrl)
    if (hostname === '' || !canDecode(username) || !canDecode(password)) {
      fail('SMTP_URL', 'like smtps://user:password@host:465, with special characters encoded as in URLs')
    }
  }
  const mailFrom = text('MAIL_FROM')
  if (mailFrom !== undefined && !/^[^\s@<>,;"]+@[^\s@<>,;"]+$/.test(mailFrom)) {
    fail('MAIL_FROM', `an email address, but is "${mailFrom}"`)
  }
  if (smtpUrl !== undefined && mailFrom === undefined) {
    fail('MAIL_FROM', 'set when SMTP_URL is: the address that sends mails, such as plenum@example.com')
  }

  const config: Config = {
    port: integer('PORT', 4000, 0, 65_535),
    host: text('HOST') ?? 'localhost',
    dataDir: text('DATA_DIR') ?? './data',
    databaseUrl,
    databaseListenUrl: databaseListenUrl ?? databaseUrl,
    redisUrl,
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
    smtpUrl,
    mailFrom,
    consoleHosts: hosts('CONSOLE_HOSTS'),
    workspaceCreation: choice('WORKSPACE_CREATION', ['open', 'closed'], 'open'),
    outgoingPrivateAddresses: choice('OUTGOING_PRIVATE_ADDRESSES', ['refused', 'allowed'], 'refused'),
    webhookAllowedRanges: ranges('WEBHOOK_ALLOW_CIDR'),
    defaultDocumentAccess: choice('DEFAULT_DOCUMENT_ACCESS', documentAccess, 'public'),
    defaultDocumentCreation: choice('DEFAULT_DOCUMENT_CREATION', ['clients', 'backends'], 'clients'),
    eventRetentionDays: integer('EVENT_RETENTION_DAYS', 30, 1, 3650),
    requestTimeoutSeconds: integer('REQUEST_TIMEOUT_SECONDS', 30, 1, 3600),
    shutdownSeconds: integer('SHUTDOWN_SECONDS', 10, 1, 300),
    limits: {
      bodyBytes: integer('LIMIT_BODY_BYTES', 1024 * 1024, 1024, 1024 ** 3),
      crdtBodyBytes: integer('LIMIT_CRDT_BODY_BYTES', 10 * 1024 * 1024, 1024, 1024 ** 3),
      jsonDepth: integer('LIMIT_JSON_DEPTH', 64, 8, 1000),
      jsonKeys: integer('LIMIT_JSON_KEYS', 10_000, 1000, 10_000_000),
      jsonValues: integer('LIMIT_JSON_VALUES', 50_000, 1000, 100_000_000),
      createWorkspacePerHour: integer('LIMIT_CREATE_WORKSPACE_PER_HOUR', 10, 0, 1_000_000),
      loginLinksPerHour: integer('LIMIT_LOGIN_LINKS_PER_HOUR', 10, 0, 1_000_000),
      workspaceRequestsPerMinute: integer('LIMIT_WORKSPACE_REQUESTS_PER_MINUTE', 60, 0, 10_000_000),
      apiKeyRequestsPerMinute: integer('LIMIT_API_KEY_REQUESTS_PER_MINUTE', 0, 0, 100_000_000),
      userRequestsPerMinute: integer('LIMIT_USER_REQUESTS_PER_MINUTE', 6_000, 0, 10_000_000),
      workspacesPerOwner: integer('LIMIT_WORKSPACES_PER_OWNER', 5, 1, 1_000_000),
      productionKeysPerWorkspace: integer('LIMIT_PRODUCTION_KEYS', 10, 0, 1_000_000),
      editorBytes: integer('LIMIT_EDITOR_BYTES', 32 * 1024 * 1024, 64 * 1024, 1024 ** 3),
      connections: integer('LIMIT_CONNECTIONS', 20_000, 0, 10_000_000),
      createdByOpeningPerMinute: integer('LIMIT_CREATED_BY_OPENING_PER_MINUTE', 100, 0, 1_000_000),
      createdByOpeningPerDay: integer('LIMIT_CREATED_BY_OPENING_PER_DAY', 100_000, 0, 1_000_000_000),
      editorsPerDocument: integer('LIMIT_EDITORS_PER_DOCUMENT', 1000, 1, 100_000),
    },
  }
  if (problems.length > 0) throw new ConfigError(problems.join('\n'))
  return config
}

function canDecode(text: string): boolean {
  try {
    // The bundler drops a call whose result is not used, because it does not know that it can throw.
    return decodeURIComponent(text).length >= 0
  } catch {
    return false
  }
}

/** The names of all settings that `readConfig` reads. */
export function settingNames(): string[] {
  const names = new Set<string>()
  readConfig(new Proxy({}, { get: (_, name) => void names.add(String(name)) }))
  return [...names]
}

/** The options of API keys that are created from now on. */
export const newKeyOptionsOf = ({
  defaultDocumentAccess,
  defaultDocumentCreation,
}: Pick<Config, 'defaultDocumentAccess' | 'defaultDocumentCreation'>) => ({
  defaultDocumentAccessType: defaultDocumentAccess,
  documentCreation: defaultDocumentCreation,
})

export type NewKeyOptions = ReturnType<typeof newKeyOptionsOf>
