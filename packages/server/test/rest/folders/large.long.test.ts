import { once } from 'node:events'
import { connect } from 'node:net'
import type { Folder } from '@plenum/protocol'
import { beforeAll, describe, expect, test } from 'vitest'
import { expectShortIterations } from '../../support/measures/loop-work.ts'
import * as given from '../../support/given.ts'
import { anyStore, stores, useServer } from '../../support/harness.ts'
import { seed } from '../../support/data/large-data.ts'

/** The maximum number of folders in one response (rule 9.2.2). */
const maxFolders = 100_000
const depth = 32
const names = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${prefix}${index + 1}`)

/** Each organization has folders `t1` to `t<top>`, and in the folder `t1` the folders `c1` to `c<inside>`. */
const scenes = {
  /** More folders inside one folder, and more at the top level, than one page holds. Together more than one iteration may read. */
  wide: { top: 1_300, inside: 1_300 },
  /** The maximum of one response, almost all in one folder. */
  most: { top: 500, inside: maxFolders - 500 },
}
type Scene = keyof typeof scenes

/** Makes ids of almost the maximum length, with three bytes per character. */
const longSuffix = '頁'.repeat(248)

describe.each(stores)('many folders on %s', (store) => {
  const isLargest = store === anyStore
  // A busy machine may need long for 100,000 rows.
  const server = useServer(store, { env: { DATABASE_TIMEOUT_SECONDS: '600' } })
  let tenant: given.Tenant

  async function insert(tenant: given.Tenant, organizationId: Scene) {
    await given.organization(tenant, organizationId)
    const { top, inside } = scenes[organizationId]
    const fill = seed(server.database, tenant.apiKey, organizationId)
    await fill.folders(top, null, 't')
    await fill.folders(inside, 't1', 'c')
    if (organizationId === 'wide') await fill.folders(1, `c${inside}`, 'd')
  }

  beforeAll(async () => {
    tenant = await given.tenant(server)
    await insert(tenant, 'wide')
    await insertLong('long', 20)
  })

  /** Few folders, but 15 KB each, because each includes the ids of all its ancestors. */
  async function insertLong(organizationId: string, chains: number) {
    await given.organization(tenant, organizationId)
    await seed(server.database, tenant.apiKey, organizationId).folderChains(chains, depth, longSuffix)
  }

  /** The raw bytes of the response: joining and parsing them would block the event loop that is measured. */
  async function fetchFolders(
    input: object,
    version = 'v2',
    headers = tenant.headers,
  ): Promise<Uint8Array[]> {
    const response = await fetch(`${server.url}/${version}/organizations/folders/get`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ data: input }),
    })
    const chunks: Uint8Array[] = []
    for await (const chunk of response.body!) chunks.push(chunk)
    return chunks
  }
  function parse(chunks: Uint8Array[]) {
    const { result, error } = JSON.parse(Buffer.concat(chunks).toString()) as {
      result?: { data: Folder[]; nextPageToken?: string }
      error?: { status: string; message: string }
    }
    return { folders: result?.data ?? [], nextPageToken: result?.nextPageToken, error }
  }
  const get = async (input: object, version?: string) => parse(await fetchFolders(input, version))
  const idsOf = (folders: readonly Folder[] = []) => folders.map(({ folderId }) => folderId)
  const topOf = (organizationId: Scene) => names('t', scenes[organizationId].top)
  const insideOf = (organizationId: Scene) => names('c', scenes[organizationId].inside)
  const allOf = (organizationId: Scene) => [
    ...topOf(organizationId),
    ...insideOf(organizationId),
    ...(organizationId === 'wide' ? ['d1'] : []),
  ]
  /** Like `toEqual`, which takes a second for 100,000 ids. */
  function expectIds(folders: readonly Folder[] | undefined, expected: readonly string[]) {
    const ids = idsOf(folders)
    expect(ids.find((id, index) => id !== expected[index])).toBeUndefined()
    expect(ids).toHaveLength(expected.length)
  }
  const tooLarge = {
    status: 'INVALID_ARGUMENT',
    message:
      'The answer would have more than 100,000 folders or 64 MiB. Read it in parts with pageSize or maxDepth, under v2.',
  }

  test('[4.3] [9.2.1] [0.5.1] get without pageSize returns every folder, under v1 and v2', async () => {
    for (const version of ['v1', 'v2']) {
      const { folders, nextPageToken } = await get({ organizationId: 'wide' }, version)
      expectIds(folders, allOf('wide'))
      expect(nextPageToken).toBeUndefined()
      const [top] = (await get({ organizationId: 'wide', folderId: 't1' }, version)).folders
      expectIds(top?.subFolders, insideOf('wide'))
    }
  })

  test('[4.3] [9.2.1] a nested get without pageSize returns every folder of its levels', async () => {
    const wide = await get({ organizationId: 'wide', maxDepth: 2 })
    expectIds(wide.folders, topOf('wide'))
    const [top] = wide.folders
    expectIds(top?.subFolders, insideOf('wide'))
    expect(top?.subFolders?.at(-1)?.subFolders?.[0]).toMatchObject({
      folderId: 'd1',
      ancestors: ['root', 't1', 'c1300'],
    })
    expect(wide.nextPageToken).toBeUndefined()

    const roots = await get({ organizationId: 'wide', rootFoldersOnly: true })
    expectIds(roots.folders, topOf('wide'))
    expect(roots.folders.filter(({ subFolders }) => subFolders)).toEqual([])
  })

  async function pages(input: object, pageSize: number, read: (folders: Folder[]) => readonly Folder[]) {
    const found: string[] = []
    let pageToken: string | undefined
    do {
      const page = await get({ ...input, pageSize, pageToken })
      expect(page.error).toBeUndefined()
      const folders = read(page.folders)
      expect(folders.length).toBeLessThanOrEqual(pageSize)
      found.push(...idsOf(folders))
      pageToken = page.nextPageToken
      if (pageToken !== undefined) expect(folders).toHaveLength(pageSize)
    } while (pageToken !== undefined)
    return found
  }

  test('[9.2.1] pages contain all folders', async () => {
    expect(await pages({ organizationId: 'wide' }, 700, (all) => all)).toEqual(allOf('wide'))
    expect(await pages({ organizationId: 'wide', maxDepth: 1 }, 700, (all) => all)).toEqual(topOf('wide'))
  })

  test('[9.2.1] get with folderId returns the direct subfolders in pages, and a page token is valid only for the same query', async () => {
    const input = { organizationId: 'wide', folderId: 't1', maxDepth: 2 }
    const subFoldersOf = (folders: Folder[]) => {
      expect(folders).toHaveLength(1)
      return folders[0]?.subFolders ?? []
    }
    expect(await pages(input, 700, subFoldersOf)).toEqual(insideOf('wide'))
    const first = await get({ ...input, pageSize: 1000 })
    expectIds(first.folders[0]?.subFolders, insideOf('wide').slice(0, 1000))
    const rest = await get({ ...input, pageToken: first.nextPageToken })
    expectIds(rest.folders[0]?.subFolders, insideOf('wide').slice(1000))
    expect(idsOf(rest.folders[0]?.subFolders?.at(-1)?.subFolders)).toEqual(['d1'])
    expect(rest.nextPageToken).toBeUndefined()
    for (const other of [{ folderId: 't2' }, { maxDepth: 3 }, { organizationId: 'long' }]) {
      const { error } = await get({ ...input, ...other, pageToken: first.nextPageToken })
      expect(error?.message).toBe('Invalid page token.')
    }
  })

  test('[S2] [9.2.1] an answer with all levels of many folders contains every folder, and does not block the event loop', async () => {
    const input = { organizationId: 'wide', maxDepth: depth }
    let chunks: Uint8Array[] = []
    await expectShortIterations(async () => (chunks = await fetchFolders(input)))
    const { folders } = parse(chunks)
    expectIds(folders, topOf('wide'))
    expectIds(folders[0]?.subFolders, insideOf('wide'))
  })

  test('[S2] no large answer of Get Folders, alone or among many, blocks the event loop', async () => {
    for (const input of [
      { organizationId: 'long', pageSize: 400 },
      { organizationId: 'long', maxDepth: depth, pageSize: 12 },
    ]) {
      await expectShortIterations(() => fetchFolders(input))
    }
    const other = await given.tenant(server)
    const many = () =>
      Promise.all([
        ...Array.from({ length: 2 }, () => fetchFolders({ organizationId: 'wide' })),
        ...Array.from({ length: 2 }, () => fetchFolders({ organizationId: 'wide' }, 'v1', other.headers)),
        fetchFolders({ organizationId: 'long', pageSize: 400 }),
      ])
    await expectShortIterations(many)
  })

  test('[S2] reading the ancestors of many folders does not block the event loop', async () => {
    const tenant = await given.tenant(server)
    await given.organization(tenant, 'deep')
    const fill = seed(server.database, tenant.apiKey, 'deep')
    // Undivided, this would read 3,200 rows.
    const chains = 100
    await fill.folderChains(chains, depth)
    await fill.documentsInChains(chains, depth)
    const { client } = tenant
    const get = () => client.documents.get({ organizationId: 'deep' })
    expect((await get()).data).toHaveLength(chains)
    await expectShortIterations(get)
    let added = 0
    const add = () => {
      const folders = names(`new ${added++} `, chains).map((folderId, index) => ({
        folderId,
        parentFolderId: `f${index + 1}-${depth - 1}`,
      }))
      return client.folders.add({ organizationId: 'deep', folders })
    }
    await expectShortIterations(add)
  })

  test.runIf(isLargest)(
    '[S1] [9.2.3] clients that do not read their large answers delay only large answers of the same API key',
    async () => {
      const other = await given.tenant(server)
      await insert(other, 'wide')
      /** A client that receives its first bytes and reads no more. */
      const stalled = async () => {
        const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
        const body = JSON.stringify({ data: { organizationId: 'long' } })
        const headers = Object.entries({ ...tenant.headers, host: 'x', 'content-length': body.length })
        const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
        socket.write(
          `POST /v2/organizations/folders/get HTTP/1.1\r\ncontent-type: application/json\r\n${lines}\r\n${body}`,
        )
        await once(socket, 'readable')
        return socket
      }
      const [first, second] = [await stalled(), await stalled()]
      let isAnswered = false
      const third = fetchFolders({ organizationId: 'wide' }).then(() => (isAnswered = true))
      // Small responses of the same key, and large ones of another key, still arrive.
      expect((await get({ organizationId: 'wide', folderId: 'd1' })).folders).toHaveLength(1)
      await fetchFolders({ organizationId: 'wide' }, 'v2', other.headers)
      expect(isAnswered).toBe(false)
      first.destroy()
      await third
      second.destroy()
    },
  )

  // The limit does not depend on the database.
  test.runIf(isLargest)(
    '[9.2.1] [9.2.2] a response of 100,000 folders is complete; above that, or above 64 MiB, get fails with an error that names pageSize and maxDepth, and pages can be read',
    async () => {
      await insert(tenant, 'most')
      const { folders } = await get({ organizationId: 'most', maxDepth: 1 })
      expectIds(folders, topOf('most'))
      expectIds(folders[0]?.subFolders, insideOf('most'))

      await seed(server.database, tenant.apiKey, 'most').folders(1, 't1', 'more')
      await insertLong('tooLong', 160)
      for (const [input, version] of [
        [{ organizationId: 'most' }, 'v1'],
        [{ organizationId: 'most', maxDepth: 1, pageSize: 500 }, 'v2'],
        [{ organizationId: 'tooLong' }, 'v2'],
      ] as const) {
        expect([input, (await get(input, version)).error]).toEqual([input, tooLarge])
      }
      for (const input of [
        { organizationId: 'most', pageSize: 100 },
        { organizationId: 'tooLong', pageSize: 100 },
        { organizationId: 'tooLong', maxDepth: depth, pageSize: 5 },
      ]) {
        const page = await get(input)
        expect(page.folders).toHaveLength(input.pageSize)
        expect(page.nextPageToken).toBeDefined()
      }
      expect((await get({ organizationId: 'most', rootFoldersOnly: true })).folders).toHaveLength(500)
      expect((await get({ organizationId: 'most', folderId: 't2' })).folders).toHaveLength(1)
    },
  )
})
