import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { type Operation, operations } from '@plenum/protocol'
import JsonSchema from 'typebox/schema'
import { beforeAll, describe, expect, test } from 'vitest'
import { clientTypesFolder } from '../../../../scripts/derive/client-types.ts'
import { compare, derivedFiles, repair } from '../../../../scripts/derive/files.ts'
import { copyOf, fill } from '../support/data/filled-tenant.ts'
import { quickPost } from '../support/clients/quick-http.ts'
import * as given from '../support/given.ts'
import { useServer } from '../support/harness.ts'

const root = fileURLToPath(new URL('../../../..', import.meta.url))

type Referable<T> = T | { $ref: string }
interface Media {
  schema: object
  examples: Record<string, Referable<{ value: unknown }>>
}
interface Message {
  content: { 'application/json': Media }
}
interface DescribedOperation {
  operationId: string
  deprecated?: boolean
  security: readonly object[]
  parameters?: readonly object[]
  requestBody: Referable<Message>
  responses: Record<string, Referable<Message>>
}
interface Document {
  tags: readonly { name: string; description: string }[]
  paths: Record<string, { post: DescribedOperation }>
  components: object
}

const readJson = (path: string): unknown => JSON.parse(readFileSync(join(root, path), 'utf8'))
/** A test below compares the committed file with the operation table. */
const document = readJson('openapi.json') as Document

const table = Object.entries(operations as Record<string, Record<string, Operation>>).flatMap(
  ([family, verbs]) =>
    Object.entries(verbs).map(([verb, operation]): [string, Operation] => [`${family}.${verb}`, operation]),
)

function resolve<T extends object>(value: Referable<T>): T {
  if (!('$ref' in value)) return value
  const found = value.$ref
    .slice(2)
    .split('/')
    .reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], document)
  return found as T
}

const mediaOf = (message: Referable<Message>) => resolve(message).content['application/json']
const valuesOf = (media: Media) => Object.values(media.examples).map((example) => resolve(example).value)

/** The schemas of the document that a schema refers to: validating with all of them takes much longer. */
function schemasOf(schema: object, found: Record<string, object> = {}): Record<string, object> {
  for (const [, name = ''] of JSON.stringify(schema).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
    if (Object.hasOwn(found, name)) continue
    found[name] = resolve<object>({ $ref: `#/components/schemas/${name}` })
    schemasOf(found[name], found)
  }
  return found
}

/** Returns the validation errors of a value. The schema can refer to schemas of the document. */
const errorsOf = (schema: object, value: unknown) =>
  JsonSchema.Errors({ components: { schemas: schemasOf(schema) }, ...schema }, value)[1]

const describedAt = (path: string) => {
  const item = document.paths[path]
  if (!item) throw new Error(`${path} is not described.`)
  return item.post
}

describe('the OpenAPI document', () => {
  test('[0.1.7] the OpenAPI document has every operation under each version, and its aliases as deprecated', () => {
    const expected = table.flatMap(([name, { versions, path, aliases = [] }]) =>
      versions.flatMap((version): [string, unknown][] => [
        [`/${version}${path}`, [version === versions.at(-1) ? name : `${name}.${version}`, false]],
        ...aliases.map((alias): [string, unknown] => [
          `/${version}${alias}`,
          [expect.stringContaining(`${name}.${version}.alias`), true],
        ]),
      ]),
    )
    const described = Object.entries(document.paths).map(([path, { post }]) => [
      path,
      [post.operationId, post.deprecated ?? false],
    ])
    expect(described).toHaveLength(expected.length)
    expect(Object.fromEntries(described)).toEqual(Object.fromEntries(expected))
  })

  test('[0.1.7] the OpenAPI document has a unique id for each operation and a description for each family', () => {
    const ids = Object.values(document.paths).map(({ post }) => post.operationId)
    expect(new Set(ids).size).toBe(ids.length)
    expect(document.tags.length).toBeGreaterThan(0)
    expect(document.tags.filter(({ description }) => description === '')).toEqual([])
  })

  test('[0.1.10] a named text has the name of the fields that it describes', () => {
    const { schemas } = document.components as { schemas: Record<string, { type?: string; enum?: unknown }> }
    const named: [field: string, schema: string][] = []
    const collect = (value: unknown, field = ''): void => {
      if (typeof value !== 'object' || value === null) return
      const { $ref, properties, items, ...others } = value as Record<string, unknown>
      const name = typeof $ref === 'string' ? ($ref.split('/').at(-1) as string) : ''
      if (schemas[name]?.type === 'string' && schemas[name].enum === undefined) named.push([field, name])
      for (const [key, one] of Object.entries(properties ?? {})) collect(one, key)
      collect(items, field)
      for (const one of Object.values(others)) collect(one)
    }
    collect(document)
    expect(named.filter(([, schema]) => schema === 'OrganizationId').length).toBeGreaterThan(40)
    const fits = ([field, schema]: [string, string]) => {
      const [a = '', b = ''] = [field, schema].map((name) => name.replace(/Ids?$/, '').toLowerCase())
      return field === 'id' || schema === 'ChosenId' || a.endsWith(b) || b.endsWith(a)
    }
    expect(named.filter((one) => !fits(one))).toEqual([])
  })

  test('[0.1.7] the OpenAPI document has no internal keyword', () => {
    const keys = new Set<string>()
    JSON.stringify(document, (key, value: unknown) => (keys.add(key), value))
    expect([...keys].filter((key) => /^(~|x-)/.test(key))).toEqual([])
  })

  test.each(table)(
    '[0.1.7] %s has examples in the OpenAPI document that match its schemas',
    (_name, { versions, path }) => {
      const { requestBody, responses } = describedAt(`/${versions[0]}${path}`)
      for (const message of [requestBody, ...Object.values(responses)]) {
        const media = mediaOf(message)
        expect(valuesOf(media).length).toBeGreaterThan(0)
        for (const value of valuesOf(media)) expect(errorsOf(media.schema, value)).toEqual([])
      }
    },
  )

  test.each(table)('[0.1.7] %s has every declared error in the OpenAPI document', (_name, operation) => {
    const { responses } = describedAt(`/${operation.versions[0]}${operation.path}`)
    const shown = Object.values(responses).flatMap((response) => valuesOf(mediaOf(response)))
    const codeOf = (status: string) => (operation.errorCode ? { code: status } : {})
    for (const { status, message, details } of operation.errors ?? []) {
      expect(shown).toContainEqual({
        error: { status, ...codeOf(status), message, ...(details !== undefined && { details }) },
      })
    }
  })
})

describe('the answers of the server', () => {
  const server = useServer('sqlite')

  /** Has the objects that all examples name. */
  let filled: given.Tenant
  beforeAll(async () => {
    filled = await given.tenant(server)
    await fill(server, filled)
  })

  /** Checks that the document describes the HTTP code of the answer, and that an error is one of the examples there. */
  async function expectDescribed(
    path: string,
    body: unknown,
    headers: Record<string, string>,
    httpStatus?: number,
  ) {
    const answer = await quickPost(`${server.url}${path}`, body, headers)
    const response = describedAt(path).responses[answer.status]
    const shown = response ? valuesOf(mediaOf(response)) : []
    const isDescribed =
      response && (answer.status === 200 || shown.some((example) => isDeepStrictEqual(example, answer.body)))
    expect({ path, answer, isDescribed }).toEqual({
      path,
      answer: { ...answer, status: httpStatus ?? answer.status },
      isDescribed: true,
    })
  }

  test('[0.2] the server answers wrong credentials and bodies as the OpenAPI document says', async () => {
    const { workspaceId, headers } = await given.tenant(server)
    const token = { 'x-svc-auth-token': 'not a token' }
    for (const path of Object.keys(document.paths)) {
      const [security] = describedAt(path).security
      if (!security) continue
      const inBody = Object.keys(security).length === 0
      await expectDescribed(path, { data: {} }, {}, 400)
      await expectDescribed(path, { data: {} }, token, 400)
      if ('WorkspaceId' in security) {
        await expectDescribed(path, { data: {} }, { 'x-svc-workspace-id': workspaceId }, 400)
        await expectDescribed(path, { data: {} }, { ...token, 'x-svc-workspace-id': workspaceId })
        await expectDescribed(path, { data: {} }, { ...token, 'x-svc-workspace-id': 'none' })
      } else {
        await expectDescribed(path, { data: {} }, { ...headers, ...token }, 401)
        await expectDescribed(path, { data: {} }, { ...token, 'x-svc-api-key': 'none' }, 403)
        if (!inBody) await expectDescribed(path, '{', headers, 400)
        await expectDescribed(path, { data: 1 }, headers, 400)
        await expectDescribed(path, 'data', { ...headers, 'content-type': 'text/plain' }, 400)
      }
    }
  })

  test('[0.1.7] each example that succeeds with the headers of an API key gets the message of the OpenAPI document', async () => {
    let successes = 0
    const shared = await copyOf(server, filled)
    /** Reads, and writes that take nothing away, leave the objects that the other examples name. */
    const tenantFor = ({ effect, versions }: Operation, name: string) => {
      if (effect !== 'read' && versions.length === 1) return given.tenant(server)
      return effect === 'read' || !/delete|remove|migrate/.test(name) ? shared : copyOf(server, filled)
    }
    for (const [name, operation] of table) {
      if (!['apiKey', 'user'].includes(operation.access)) continue
      for (const version of operation.versions) {
        const tenant = await tenantFor(operation, name)
        const path = `/${version}${operation.path}`
        const data = given.exampleFor(tenant, operation)
        const { status, body } = await server.post(path, { data }, tenant.headers)
        if (status !== 200) continue
        successes++
        const [shown] = valuesOf(mediaOf(describedAt(path).responses[200]!)) as (typeof body)[]
        expect([name, version, body.result.message]).toEqual([name, version, shown.result.message])
      }
    }
    expect(successes).toBeGreaterThan(50)
  })

  test.each<[version: string, input: object, message: string]>([
    ['v1', {}, 'Folders retrieved successfully.'],
    ['v1', { folderId: 'designs' }, 'Folders retrieved successfully.'],
    ['v1', { maxDepth: 1, rootFoldersOnly: true }, 'Folders retrieved successfully.'],
    ['v2', {}, 'Folders retrieved successfully.'],
    ['v2', { folderId: 'designs' }, 'Folder(s) retrieved successfully.'],
    ['v2', { maxDepth: 1 }, 'Folder(s) retrieved successfully.'],
    ['v2', { rootFoldersOnly: true }, 'Folder(s) retrieved successfully.'],
  ])('[4.3] Get Folders under %s with %j answers "%s", as the OpenAPI document says', async (...row) => {
    const [version, input, message] = row
    const path = `/${version}/organizations/folders/get`
    const { body } = await server.post(path, { data: { organizationId: 'org_1', ...input } }, filled.headers)
    expect(body.result.message).toBe(message)
    const media = mediaOf(describedAt(path).responses[200]!)
    const result = (media.schema as { properties: { result: { properties: { message: object } } } })
      .properties.result
    expect((result.properties.message as { examples: string[] }).examples).toContain(message)
  })

  test('[0.3] every operation without a workspace id answers an empty input as the OpenAPI document says', async () => {
    const { headers } = await given.tenant(server)
    for (const path of Object.keys(document.paths)) {
      const [security] = describedAt(path).security
      if (security && 'WorkspaceId' in security) continue
      await expectDescribed(path, { data: {} }, headers)
    }
  })
})

describe('the pages of the server', () => {
  const server = useServer('sqlite')
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${server.url}${path}`, { headers, redirect: 'manual' })

  test('[0.1.7] /openapi.json serves the committed document, compressed and cacheable', async () => {
    const response = await get('/openapi.json')
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(response.headers.get('content-encoding')).toBe('gzip')
    const text = await response.text()
    // Not `toEqual`, which is slow for a megabyte.
    expect(isDeepStrictEqual(JSON.parse(text), document)).toBe(true)

    const again = await get('/openapi.json', { 'if-none-match': response.headers.get('etag') ?? '' })
    expect([again.status, await again.text()]).toEqual([304, ''])
    const plain = await get('/openapi.json', { 'accept-encoding': 'identity' })
    expect(plain.headers.get('content-encoding')).toBe(null)
    expect((await plain.text()) === text).toBe(true)
  })

  test('[0.1.7] /docs loads only files of the same server', async () => {
    const response = await get('/docs')
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const policy = response.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).not.toMatch(/https?:|\*|unsafe-eval/)

    const html = await response.text()
    const sources = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, source = '']) => source)
    const scripts = sources.filter((source) => source.endsWith('.js'))
    expect(scripts).toEqual(['docs/reference.js', 'docs/start.js'])
    for (const source of sources.filter((source) => source !== 'data:,')) {
      const url = new URL(source, `${server.url}/docs`)
      expect(url.origin).toBe(server.url)
      const file = await get(url.pathname)
      expect([source, file.status]).toEqual([source, 200])
      expect(file.headers.get('content-type')).toMatch(
        source.endsWith('.js') ? /^text\/javascript/ : /^application\/json/,
      )
      expect((await file.arrayBuffer()).byteLength).toBeGreaterThan(100)
    }
  })

  test('[0.1.7] / redirects browsers to /docs and sends other clients the addresses of /docs and /openapi.json', async () => {
    const browser = await get('/', { accept: 'text/html,application/xhtml+xml' })
    expect([browser.status, browser.headers.get('location')]).toEqual([302, 'docs'])
    const slash = await get('/docs/')
    expect([slash.status, slash.headers.get('location')]).toEqual([302, '../docs'])
    expect(await (await get('/')).json()).toEqual({
      name: 'Plenum',
      version: (readJson('packages/server/package.json') as { version: string }).version,
      docs: '/docs',
      openapi: '/openapi.json',
      health: '/healthz',
    })
  })
})

describe('the derived files', () => {
  const files = derivedFiles()

  test('[0.1.7] the committed derived files are up to date with the operation table', () => {
    expect(compare(root, files)).toEqual({ stale: [], leftOver: [] })
  })

  test('[K14] the client types declare each object and union type once, under one name', () => {
    const types = Object.entries(files).flatMap(([file, text]) =>
      file.startsWith(clientTypesFolder) ? [text] : [],
    )
    const declaration = /^export (?:interface|type) (\w+)([^\w.][^]*?)\n$/gm
    const namesOf = new Map<string, string[]>()
    for (const [, name = '', text = ''] of types.join('\n').matchAll(declaration)) {
      const isShape = text.includes('{') || text.includes('|')
      if (isShape) namesOf.set(text, [...(namesOf.get(text) ?? []), name])
    }
    expect(namesOf.size).toBeGreaterThan(100)
    expect([...namesOf.values()].filter((names) => names.length > 1)).toEqual([])
    // No object type is written inside another: only the first line of a declaration opens an object.
    expect(types.join('\n').match(/^ +.*\{$/gm)).toBe(null)
  })

  test('[0.1.7] derive finds stale and leftover files, rewrites the stale ones and removes the others', () => {
    const elsewhere = mkdtempSync(join(tmpdir(), 'plenum-derive-'))
    try {
      const everything = compare(elsewhere, files)
      expect(everything).toEqual({ stale: Object.keys(files), leftOver: [] })
      repair(elsewhere, files, everything)
      writeFileSync(join(elsewhere, 'openapi.json'), '{}')
      writeFileSync(join(elsewhere, 'docs/reference/gone.md'), '# Gone')
      writeFileSync(join(elsewhere, 'packages/client/src/operations/gone.ts'), '')

      const difference = compare(elsewhere, files)
      expect(difference).toEqual({
        stale: ['openapi.json'],
        leftOver: ['docs/reference/gone.md', 'packages/client/src/operations/gone.ts'],
      })
      repair(elsewhere, files, difference)
      expect(compare(elsewhere, files)).toEqual({ stale: [], leftOver: [] })
    } finally {
      rmSync(elsewhere, { recursive: true, force: true })
    }
  })
})
