import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runInThisContext } from 'node:vm'
import type { Client } from '@plenum/client'
import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { appendUpdates } from '../../support/data/editors.ts'
import { anyStore, stores, useServer } from '../../support/harness.ts'
import { eventually } from '../../support/clients/convergence.ts'
import { saved } from '../../support/clients/hocuspocus-client.ts'
import { expectShortIterations } from '../../support/measures/loop-work.ts'
import {
  commentData,
  documentRef,
  editorRef,
  organizationId,
  sceneWithText,
} from '../../support/data/range-scenes.ts'
import { slowDocument } from '../../support/updates/scenes.ts'

const quick = { anchor: 4, head: 9 }

describe.each(stores)('ranges of annotations in stored editors on %s', (store) => {
  /** The kinds of work that ran in threads. */
  const inThreads: string[] = []
  const server = useServer(store, {
    beforeThreadWork: (kind) => {
      inThreads.push(kind)
      return Promise.resolve()
    },
  })
  const snapshots = (apiKey: string) =>
    server.database.read
      .selectFrom('editor_snapshots')
      .select('editor_id')
      .where('api_key', '=', apiKey)
      .execute()

  test('[19.8.6] compaction changes neither a range nor the place where its text was deleted', async () => {
    const { apiKey, add, ranges, open } = await sceneWithText(server)
    await add(quick, 'kept')
    await add({ anchor: 10, head: 15, quote: 'none' }, 'deleted')
    const { text, ...ada } = await open()
    // The first and last character of `quick`, all of `brown`.
    text.delete(10, 5)
    text.delete(8, 1)
    text.delete(4, 1)
    await saved(ada)
    const expected = [
      { orphaned: true, start: 8, end: 8 },
      { orphaned: false, start: 4, end: 7, text: 'uic' },
    ]
    expect(await ranges()).toMatchObject(expected)
    text.insert(text.length, 'x'.repeat(100_000))
    await saved(ada)
    await eventually(() => snapshots(apiKey)).toHaveLength(1)
    expect(await ranges()).toMatchObject(expected)
  })

  test('[19.8.5] [19.8.6] restoring a version keeps ranges in equal text, and finds those whose text was deleted', async () => {
    const { client, add, ranges } = await sceneWithText(server)
    const { versionId } = (await client.crdtVersions.add({ ...editorRef, name: 'first' })).data
    await add(quick, 'deleted')
    await add({ anchor: 20, head: 25 }, 'kept')
    await client.crdt.update({ ...editorRef, type: 'text', data: 'The slow fox jumps.' })
    expect(await ranges()).toMatchObject([
      { orphaned: false, start: 13, end: 18, text: 'jumps' },
      { orphaned: true, quote: 'quick' },
    ])
    await client.crdtVersions.restore({ ...editorRef, versionId })
    expect(await ranges()).toMatchObject([
      { orphaned: false, start: 20, end: 25, text: 'jumps' },
      { orphaned: false, start: 4, end: 9, text: 'quick' },
    ])
  })

  test('[19.8.6] ranges move with their document, and are not mistaken in another editor with the same id', async () => {
    const { client, add, ranges } = await sceneWithText(server)
    const migrate = async (documentId: string, newDocumentId: string) => {
      const { migrationId } = (await client.documents.migrate({ organizationId, documentId, newDocumentId }))
        .data
      await expect
        .poll(
          async () => (await client.documents.migrateStatus({ organizationId, migrationId })).data.status,
          {
            timeout: 30_000,
          },
        )
        .toBe('completed')
    }
    await add(quick)
    await migrate('doc_1', 'doc_2')
    expect(await ranges('doc_2')).toMatchObject([{ start: 4, end: 9, text: 'quick', orphaned: false }])
    // Both editors have text of the server at the same clocks.
    server.clock.offsetMs += 1
    const other = { organizationId, documentId: 'doc_3', editorId: 'note' }
    await client.crdt.add({ ...other, type: 'text', data: 'Something else.' })
    await migrate('doc_2', 'doc_3')
    expect(await ranges('doc_3')).toMatchObject([{ orphaned: true, text: '', quote: 'quick' }])
    await client.crdt.update({ ...other, type: 'text', data: 'Something quick.' })
    expect(await ranges('doc_3')).toMatchObject([{ orphaned: false, start: 10, end: 15, text: 'quick' }])
  })

  test('[19.8] [E2] the guide shows a real call with its real answer', async () => {
    const guide = readFileSync(join(import.meta.dirname, '../../../../../docs/guides/editors.md'), 'utf8')
    const section = /## Comment on a range of text\n([\s\S]*?)\n## /.exec(guide)?.[1] ?? ''
    const [, code = '', answer = ''] =
      /```js\n([\s\S]*?)```[\s\S]*?```json\n([\s\S]*?)```/.exec(section) ?? []
    const { client } = await given.tenant(server)
    const story = { organizationId: 'acme', documentId: 'welcome', editorId: 'story' }
    await client.crdt.add({ ...story, type: 'text', data: 'The quick fox jumps.' })
    const run = runInThisContext(`(async (plenum) => { ${code}; return range })`) as (
      plenum: Client,
    ) => unknown
    expect(await run(client)).toEqual(JSON.parse(answer))
  })

  test('[19.8.7] [S2] fifty ranges in an editor of 2 MB are found by building it once, without blocking the event loop', async () => {
    const { client, ranges } = await sceneWithText(server, 'lorem ipsum '.repeat(175_000))
    await client.commentAnnotations.add({
      ...documentRef,
      commentAnnotations: Array.from({ length: 50 }, (_, i) => ({
        commentData,
        targetEditor: { editorId: 'note', anchor: i * 12, head: 2_000_000 + i },
      })),
    })
    inThreads.length = 0
    await expectShortIterations(async () => {
      const found = await ranges()
      expect(found).toHaveLength(50)
      for (const one of found) expect(one).toMatchObject({ resolved: true, orphaned: false })
    })
    expect(inThreads).toEqual(['locate'])
  })
})

describe('ranges in an editor that cannot be built', () => {
  // Only the slow document is decoded in threads here, and it takes longer than any limit.
  const server = useServer(anyStore, { threadLimitMs: 500 })

  test('[19.8.7] annotations are read with the stored quote while their editor cannot be built', async () => {
    const { apiKey, client, add, ranges } = await sceneWithText(server)
    await add(quick)
    await appendUpdates(server, { apiKey }, editorRef, [slowDocument()])
    const [range] = await ranges()
    expect(range).toEqual({
      editorId: 'note',
      contentKey: 'content',
      anchor: expect.any(Object),
      head: expect.any(Object),
      quote: 'quick',
      resolved: false,
    })
    const { data } = await client.commentAnnotations.get({ ...documentRef, annotationIds: ['a1'] })
    expect(data).toMatchObject([{ annotationId: 'a1', targetEditor: { resolved: false } }])
    await expect(add(quick, 'a2')).rejects.toMatchObject({ status: 'DEADLINE_EXCEEDED' })
  })
})
