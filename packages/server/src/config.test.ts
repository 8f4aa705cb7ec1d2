import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Config, ConfigError, type Limits, readConfig } from './config.ts'
import { logLevels } from './platform/log/log-level.ts'

const example = readFileSync(resolve(import.meta.dirname, '../../../.env.example'), 'utf8')
const secretKey = 'k'.repeat(32)
const makeSecret = `node -p 'crypto.randomBytes(32).toString("base64url")'`

const defaults: Config = {
  port: 4000,
  host: 'localhost',
  dataDir: './data',
  databaseUrl: undefined,
  databaseListenUrl: undefined,
  redisUrl: undefined,
  databasePoolSize: 20,
  databaseTimeoutSeconds: 10,
  secretKey: undefined,
  durability: 'full',
  publicOrigins: [],
  trustedProxyHops: 0,
  logLevel: 'info',
  logFormat: undefined,
  colors: true,
  disposableDomains: [],
  disposableDomainsExcept: [],
  smtpUrl: undefined,
  mailFrom: undefined,
  consoleHosts: [],
  workspaceCreation: 'open',
  outgoingPrivateAddresses: 'refused',
  webhookAllowedRanges: [],
  defaultDocumentAccess: 'public',
  defaultDocumentCreation: 'clients',
  eventRetentionDays: 30,
  requestTimeoutSeconds: 30,
  shutdownSeconds: 10,
  limits: {
    bodyBytes: 1_048_576,
    crdtBodyBytes: 10_485_760,
    jsonDepth: 64,
    jsonKeys: 10_000,
    jsonValues: 50_000,
    createWorkspacePerHour: 10,
    loginLinksPerHour: 10,
    workspaceRequestsPerMinute: 60,
    apiKeyRequestsPerMinute: 0,
    userRequestsPerMinute: 6_000,
    workspacesPerOwner: 5,
    productionKeysPerWorkspace: 10,
    editorBytes: 33_554_432,
    connections: 20_000,
    createdByOpeningPerMinute: 100,
    createdByOpeningPerDay: 100_000,
    editorsPerDocument: 1000,
  },
}

type Key = keyof Config | `limits.${keyof Limits}`
const valueOf = (config: Config, key: Key) =>
  key.startsWith('limits.')
    ? config.limits[key.slice('limits.'.length) as keyof Limits]
    : config[key as keyof Config]

/** Returns the message of the error for these settings, or `accepted` if there is none. */
function refusal(env: Record<string, string>): string {
  try {
    readConfig(env)
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError)
    return (error as Error).message
  }
  return 'accepted'
}

const numbers: [name: string, key: Key, min: number, max: number][] = [
  ['PORT', 'port', 0, 65_535],
  ['DATABASE_POOL_SIZE', 'databasePoolSize', 1, 1000],
  ['DATABASE_TIMEOUT_SECONDS', 'databaseTimeoutSeconds', 1, 3600],
  ['TRUSTED_PROXY_HOPS', 'trustedProxyHops', 0, 10],
  ['EVENT_RETENTION_DAYS', 'eventRetentionDays', 1, 3650],
  ['REQUEST_TIMEOUT_SECONDS', 'requestTimeoutSeconds', 1, 3600],
  ['SHUTDOWN_SECONDS', 'shutdownSeconds', 1, 300],
  ['LIMIT_BODY_BYTES', 'limits.bodyBytes', 1024, 1024 ** 3],
  ['LIMIT_CRDT_BODY_BYTES', 'limits.crdtBodyBytes', 1024, 1024 ** 3],
  ['LIMIT_JSON_DEPTH', 'limits.jsonDepth', 8, 1000],
  ['LIMIT_JSON_KEYS', 'limits.jsonKeys', 1000, 10_000_000],
  ['LIMIT_JSON_VALUES', 'limits.jsonValues', 1000, 100_000_000],
  ['LIMIT_CREATE_WORKSPACE_PER_HOUR', 'limits.createWorkspacePerHour', 0, 1_000_000],
  ['LIMIT_LOGIN_LINKS_PER_HOUR', 'limits.loginLinksPerHour', 0, 1_000_000],
  ['LIMIT_WORKSPACE_REQUESTS_PER_MINUTE', 'limits.workspaceRequestsPerMinute', 0, 10_000_000],
  ['LIMIT_API_KEY_REQUESTS_PER_MINUTE', 'limits.apiKeyRequestsPerMinute', 0, 100_000_000],
  ['LIMIT_USER_REQUESTS_PER_MINUTE', 'limits.userRequestsPerMinute', 0, 10_000_000],
  ['LIMIT_WORKSPACES_PER_OWNER', 'limits.workspacesPerOwner', 1, 1_000_000],
  ['LIMIT_PRODUCTION_KEYS', 'limits.productionKeysPerWorkspace', 0, 1_000_000],
  ['LIMIT_EDITOR_BYTES', 'limits.editorBytes', 65_536, 1024 ** 3],
  ['LIMIT_CONNECTIONS', 'limits.connections', 0, 10_000_000],
  ['LIMIT_CREATED_BY_OPENING_PER_MINUTE', 'limits.createdByOpeningPerMinute', 0, 1_000_000],
  ['LIMIT_CREATED_BY_OPENING_PER_DAY', 'limits.createdByOpeningPerDay', 0, 1_000_000_000],
  ['LIMIT_EDITORS_PER_DOCUMENT', 'limits.editorsPerDocument', 1, 100_000],
]
const choices: [name: string, key: Key, accepted: readonly string[]][] = [
  ['DURABILITY', 'durability', ['full', 'relaxed']],
  ['LOG_LEVEL', 'logLevel', logLevels],
  ['LOG_FORMAT', 'logFormat', ['pretty', 'json']],
  ['WORKSPACE_CREATION', 'workspaceCreation', ['open', 'closed']],
  ['OUTGOING_PRIVATE_ADDRESSES', 'outgoingPrivateAddresses', ['refused', 'allowed']],
  ['DEFAULT_DOCUMENT_ACCESS', 'defaultDocumentAccess', ['public', 'organizationPrivate', 'restricted']],
  ['DEFAULT_DOCUMENT_CREATION', 'defaultDocumentCreation', ['clients', 'backends']],
]
const addresses: [name: string, key: Key, accepted: string[], protocols: string][] = [
  [
    'DATABASE_URL',
    'databaseUrl',
    ['postgres://u:p@h/d', 'postgresql://h:1/d?sslmode=require'],
    'postgres:// or postgresql://',
  ],
  [
    'DATABASE_LISTEN_URL',
    'databaseListenUrl',
    ['postgres://u:p@h/d', 'postgresql://h:1/d?sslmode=require'],
    'postgres:// or postgresql://',
  ],
  ['REDIS_URL', 'redisUrl', ['redis://h', 'rediss://u:p%40@h:6380'], 'redis:// or rediss://'],
  ['SMTP_URL', 'smtpUrl', ['smtp://h', 'smtps://u%40x:p%2F@h:465'], 'smtp:// or smtps://'],
]
const texts: [name: string, key: Key, accepted: string][] = [
  ['HOST', 'host', '0.0.0.0'],
  ['DATA_DIR', 'dataDir', '/var/lib/plenum'],
  ['SECRET_KEY', 'secretKey', secretKey],
  ['MAIL_FROM', 'mailFrom', 'plenum@example.com'],
]
const publicUrl: [name: string, key: Key] = ['PUBLIC_URL', 'publicOrigins']
const allowCidr: [name: string, key: Key] = ['WEBHOOK_ALLOW_CIDR', 'webhookAllowedRanges']
const noColor: [name: string, key: Key] = ['NO_COLOR', 'colors']
const lists: [name: string, key: Key][] = [
  ['DISPOSABLE_DOMAINS', 'disposableDomains'],
  ['DISPOSABLE_DOMAINS_EXCEPT', 'disposableDomainsExcept'],
  ['CONSOLE_HOSTS', 'consoleHosts'],
]

describe('[C1] settings', () => {
  test('[C1] readConfig reports all invalid settings in one error', () => {
    expect(() => readConfig({ PORT: 'abc', LOG_LEVEL: 'loud', SECRET_KEY: 'short' })).toThrow(
      /^SECRET_KEY must be [^\n]+\nPORT must be [^\n]+\nLOG_LEVEL must be [^\n]+$/,
    )
  })

  test('[C1] readConfig returns the defaults when no setting is given', () => {
    expect(readConfig({})).toEqual(defaults)
  })

  test('[C1] readConfig treats an empty or blank value as not set', () => {
    const names = [
      ...numbers,
      ...choices,
      ...addresses,
      ...texts,
      ...lists,
      publicUrl,
      allowCidr,
      noColor,
    ].map(([name]) => name)
    expect(readConfig(Object.fromEntries(names.map((name) => [name, ''])))).toEqual(defaults)
    expect(readConfig(Object.fromEntries(names.map((name) => [name, ' \t'])))).toEqual(defaults)
  })

  test.each(numbers)('[C1] [0.7] %s accepts only whole numbers within its bounds', (name, key, min, max) => {
    expect(valueOf(readConfig({ [name]: String(min) }), key)).toBe(min)
    expect(valueOf(readConfig({ [name]: ` ${max} ` }), key)).toBe(max)
    for (const value of [
      min - 1,
      max + 1,
      'many',
      '1.5',
      '1e3',
      '0x10',
      '1_000',
      '5 s',
      'Infinity',
      'NaN',
    ].map(String)) {
      expect(refusal({ [name]: value })).toBe(
        `${name} must be a whole number from ${min} to ${max}, but is "${value}".`,
      )
    }
  })

  test('[C1] PUBLIC_URL accepts only http and https addresses, one or more', () => {
    const { publicOrigins } = readConfig({ PUBLIC_URL: 'https://Collab.example.com/, http://intranet:8080' })
    expect(publicOrigins).toEqual(['https://collab.example.com', 'http://intranet:8080'])
    for (const value of ['collab.example.com', 'ftp://collab.example.com', 'https://']) {
      expect(refusal({ PUBLIC_URL: value })).toBe(
        `PUBLIC_URL must be addresses beginning with http:// or https://, but is "${value}".`,
      )
    }
  })

  test('[C1] WEBHOOK_ALLOW_CIDR accepts only CIDR ranges, one or more', () => {
    const { webhookAllowedRanges } = readConfig({ WEBHOOK_ALLOW_CIDR: '10.0.0.0/8, fd00::/8 192.168.1.7/32' })
    expect(webhookAllowedRanges).toEqual(['10.0.0.0/8', 'fd00::/8', '192.168.1.7/32'])
    const refused = [
      '10.0.0.1',
      '10/8',
      '10.0.0.0/33',
      '10.0.0.0/-1',
      'fd00::/129',
      '0x0a.0.0.0/8',
      'localhost/8',
    ]
    for (const value of [...refused, 'fe80::1%eth0/64', '10.0.0.0/8/8', '10.0.0.0/', '/8', '10.0.0.0/1e1']) {
      expect(refusal({ WEBHOOK_ALLOW_CIDR: value })).toBe(
        `WEBHOOK_ALLOW_CIDR must be CIDR ranges such as 10.0.0.0/8 or fd00::/8, but is "${value}".`,
      )
    }
  })

  test('[C1] CONSOLE_HOSTS accepts only hosts, one or more', () => {
    const { consoleHosts } = readConfig({ CONSOLE_HOSTS: 'Console.example.com, 10.0.0.1 [::1]' })
    expect(consoleHosts).toEqual(['console.example.com', '10.0.0.1', '[::1]'])
    for (const value of [
      'https://a.example',
      'a.example:3000',
      'a.example/',
      '*.a.example/x',
      'me@a.example',
    ]) {
      expect(refusal({ CONSOLE_HOSTS: value })).toBe(
        `CONSOLE_HOSTS must be hosts such as console.example.com, without a port, but is "${value}".`,
      )
    }
  })

  test('[C1] NO_COLOR with any value turns colors off', () => {
    for (const value of ['1', '0', 'false']) expect(readConfig({ NO_COLOR: value }).colors).toBe(false)
  })

  test.each(choices)('[C1] %s accepts only its listed values', (name, key, accepted) => {
    for (const value of accepted) expect(valueOf(readConfig({ [name]: value }), key)).toBe(value)
    for (const value of ['other', accepted[0]?.toUpperCase() ?? '', 'constructor']) {
      expect(refusal({ [name]: value })).toBe(
        `${name} must be one of ${accepted.join(', ')}, but is "${value}".`,
      )
    }
  })

  test.each(addresses)(
    '[C1] %s accepts only an address with one of its protocols, and the error does not repeat the refused value',
    (name, key, accepted, protocols) => {
      const env = {
        SECRET_KEY: secretKey,
        DATABASE_URL: 'postgres://h/d',
        MAIL_FROM: 'plenum@example.com',
      }
      for (const value of accepted) expect(valueOf(readConfig({ ...env, [name]: value }), key)).toBe(value)
      for (const value of [
        'mysql://u:canary@h/d',
        'canary',
        'localhost:5432/canary',
        'postgres//canary',
        'http://canary',
      ]) {
        expect(refusal({ ...env, [name]: value })).toBe(
          `${name} must be an address beginning with ${protocols}.`,
        )
      }
    },
  )

  test.each(texts)('[C1] %s is read without the white space around it', (name, key, accepted) => {
    expect(valueOf(readConfig({ [name]: ` ${accepted}\n` }), key)).toBe(accepted)
  })

  test('[C1] SECRET_KEY must have at least 32 characters and is required if DATABASE_URL is set, and the errors repeat neither value', () => {
    expect(refusal({ SECRET_KEY: 'canary'.padEnd(31, 'k') })).toBe(
      `SECRET_KEY must be at least 32 characters long; make one with: ${makeSecret}.`,
    )
    expect(refusal({ DATABASE_URL: 'postgres://u:canary@h/d' })).toBe(
      `SECRET_KEY must be set when DATABASE_URL is, and the same at every start; for a new database, make one with: ${makeSecret}.`,
    )
  })

  test('[C1] [B1.2] [B1.4] REDIS_URL and DATABASE_LISTEN_URL are refused without DATABASE_URL, which is the default of the latter', () => {
    const DATABASE_URL = 'postgres://h/d'
    expect(readConfig({ SECRET_KEY: secretKey, DATABASE_URL }).databaseListenUrl).toBe(DATABASE_URL)
    expect(refusal({ DATABASE_LISTEN_URL: 'postgres://u:canary@h/d' })).toBe(
      'DATABASE_LISTEN_URL must be unset without DATABASE_URL.',
    )
    expect(refusal({ REDIS_URL: 'redis://:canary@h' })).toBe(
      'REDIS_URL must be unset without DATABASE_URL, because the embedded database has one server only.',
    )
  })

  test('[C1] [3.4.12] SMTP_URL needs a host and MAIL_FROM, and the errors do not repeat the password', () => {
    expect(refusal({ SMTP_URL: 'smtp://u:canary@h' })).toBe(
      'MAIL_FROM must be set when SMTP_URL is: the address that sends mails, such as plenum@example.com.',
    )
    for (const SMTP_URL of ['smtp:canary', 'smtp://u:canary%zz@h']) {
      expect(refusal({ SMTP_URL, MAIL_FROM: 'a@b' })).toBe(
        'SMTP_URL must be like smtps://user:password@host:465, with special characters encoded as in URLs.',
      )
    }
    for (const MAIL_FROM of ['Ada', 'Ada <a@b>', 'a@b, c@d', 'a b@c', 'a@b\r\nBcc: c@d']) {
      expect(refusal({ MAIL_FROM })).toBe(`MAIL_FROM must be an email address, but is "${MAIL_FROM}".`)
    }
  })

  test.each(lists)('[C1] %s accepts a list separated by commas or white space', (name, key) => {
    expect(valueOf(readConfig({ [name]: ' a.example, b.example,,c.example\n d.example ' }), key)).toEqual([
      'a.example',
      'b.example',
      'c.example',
      'd.example',
    ])
  })

  test('[C1] .env.example lists exactly the settings that are read, with their defaults', () => {
    const read = new Set<string>()
    readConfig(new Proxy({}, { get: (_, name) => void read.add(String(name)) }))
    const listed = [...example.matchAll(/^(?:# )?([A-Z][A-Z_]+)=/gm)].map(([, name]) => name)
    expect(listed.toSorted()).toEqual([...read].toSorted())
    expect(new Set(listed).size).toBe(listed.length)

    const shown = [...example.matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, name, value]) => [name, value])
    expect(readConfig(Object.fromEntries(shown))).toEqual(defaults)
    const tested = [
      ...numbers,
      ...choices,
      ...addresses,
      ...texts,
      ...lists,
      publicUrl,
      allowCidr,
      noColor,
    ].map(([name]) => name)
    expect(tested.toSorted()).toEqual([...read].toSorted())
  })
})
