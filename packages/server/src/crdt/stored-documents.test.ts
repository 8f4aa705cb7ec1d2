import { afterAll, describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import { stopTime } from '../../test/support/clock.ts'
import { testStoredDocuments } from '../../test/support/updates/document-work.ts'
import { any, slowDocument, update } from '../../test/support/updates/scenes.ts'
import { DamagedLog, DamagedVersion, TooMuchWork, TooSlow, UnfitContent } from './content/errors.ts'
import { load, snapshot } from './content/load.ts'

const inline = testStoredDocuments({ inlineBytes: Infinity })
const threaded = testStoredDocuments({ inlineBytes: 0 })
afterAll(() => Promise.all([inline.close(), threaded.close()]))

const undeclared = { type: null, contentKey: null }
const never = Infinity
const damage = Uint8Array.of(255, 255, 255, 7, 1, 2, 3)

const parsed = (bytes: Uint8Array): unknown => JSON.parse(Buffer.from(bytes).toString())

const stored = async (documents: typeof inline, type: 'text' | 'map' | 'array' | 'xml', data: unknown) => {
  const text = typeof data === 'string' ? data : JSON.stringify(data)
  const { update } = await documents.replace([], undeclared, [{ type, contentKey: 'k', text }], never)
  return [update!]
}

describe.each([
  ['on the event loop', inline],
  ['in a thread', threaded],
])('[V5] the work of REST on documents, %s', (_, documents) => {
  test.each([
    ['text', 'Hällo 😀'],
    ['map', { a: [1, { b: null }], c: 'é' }],
    ['array', [1, 'two', { three: 3 }]],
    ['xml', '<p a="1">é</p>text'],
  ] as const)('[17.2] render and capture return content that was written as %s', async (type, data) => {
    const parts = await stored(documents, type, data)
    expect(parsed(await documents.render(parts, { type, contentKey: 'k' }))).toEqual(data)
    expect(parsed(await documents.render(parts, undeclared))).toEqual(data)
    const captured = await documents.capture(parts, undeclared)
    expect(captured).toEqual({ type, contentKey: 'k', snapshot: snapshot(load(parts)) })
  })

  test('[17.2] content that was rendered before is rendered as it is now', async () => {
    const parts = await stored(documents, 'text', 'before')
    const render = async (some: typeof parts) =>
      parsed(await documents.render(some, { type: 'text', contentKey: 'k' }))
    expect(await render(parts)).toBe('before')
    const { update } = await documents.replace(parts, undeclared, [{ type: 'text', text: 'after' }], never)
    expect(await render([...parts, update!])).toBe('after')
    expect(await render(parts)).toBe('before')
  })

  test('[17.3] replace returns an update, and a snapshot if the update has at least the requested size, but nothing for equal content', async () => {
    const parts = await stored(documents, 'text', 'one two')
    const replace = (text: string, snapshotFrom: number) =>
      documents.replace(parts, { type: 'text', contentKey: 'k' }, [{ type: 'text', text }], snapshotFrom)
    expect(await replace('one two', 0)).toEqual({ contentKey: 'k', update: null, snapshot: null })
    const short = await replace('one and two', never)
    expect(short).toMatchObject({ contentKey: 'k', snapshot: null })
    const after = load([...parts, short.update!])
    expect(after.getText('k').toJSON()).toBe('one and two')
    const size = short.update!.length
    expect((await replace('one and two', size + 1)).snapshot).toBeNull()
    expect((await replace('one and two', size)).snapshot).toEqual(snapshot(after))
  })

  test('[17.6] restore returns the document to a version, and changes nothing if it is in that state', async () => {
    const parts = await stored(documents, 'text', 'one two')
    const { snapshot: version } = await documents.capture(parts, undeclared)
    const { update } = await documents.replace(parts, undeclared, [{ type: 'text', text: 'three' }], never)
    expect(await documents.restore(parts, version, 0)).toEqual({ update: null, snapshot: null })
    const back = await documents.restore([...parts, update!], version, 0)
    expect(load([back.snapshot!]).getText('k').toJSON()).toBe('one two')
  })

  test('[17.0.1] [17.3.2] replace refuses another type, another content key, too many keys and malformed XML, and says why', async () => {
    const parts = await stored(documents, 'text', 'one')
    const replace = (type: 'text' | 'xml' | 'map', text: string, contentKey?: string) =>
      documents.replace(parts, undeclared, [{ type, contentKey, text }], never)
    await expect(replace('map', '{}')).rejects.toThrow(
      new UnfitContent('Type does not match the stored data: "k" holds text.'),
    )
    await expect(replace('text', '', 'other')).rejects.toThrow(
      new UnfitContent(
        'Content key does not match the stored data: "k" holds text. Empty "k" before you declare another one.',
      ),
    )
    const many = JSON.stringify(Object.fromEntries(Array.from({ length: 50_001 }, (__, i) => [i, 1])))
    await expect(replace('map', many)).rejects.toThrow(
      new UnfitContent('Data must not have more than 50000 keys.'),
    )
    const xml = documents.replace([], undeclared, [{ type: 'xml', text: '<p>' }], never)
    await expect(xml).rejects.toThrow(UnfitContent)
    await expect(xml).rejects.toThrow('XML is not well-formed')
  })

  test('[17.2.4] render, capture, replace and restore fail for a damaged log, and restore for a damaged version', async () => {
    const parts = await stored(documents, 'text', 'one')
    const { update } = await documents.replace(parts, undeclared, [{ type: 'text', text: 'one two' }], never)
    for (const broken of [[damage], [update!]]) {
      await expect(documents.render(broken, undeclared)).rejects.toThrow(DamagedLog)
      await expect(documents.capture(broken, undeclared)).rejects.toThrow(DamagedLog)
      await expect(documents.restore(broken, parts[0]!, 0)).rejects.toThrow(DamagedLog)
      await expect(documents.restore(parts, broken[0]!, 0)).rejects.toThrow(DamagedVersion)
      const replaced = documents.replace(broken, undeclared, [{ type: 'text', text: '' }], 0)
      await expect(replaced).rejects.toThrow(DamagedLog)
    }
  })

  test('[V5] render and capture succeed for an array of 20,000 values that were written one by one', async () => {
    const rows = Array.from({ length: 20_000 }, (__, clock) => {
      const origin = clock > 0 ? { origin: [5, clock - 1] as const } : {}
      return update({ structs: [{ client: 5, clock, structs: [{ ...origin, content: any(clock) }] }] })
    })
    expect(parsed(await documents.render(rows, undeclared))).toHaveLength(20_000)
    const { snapshot: version } = await documents.capture(rows, undeclared)
    expect(version.length).toBeLessThan(125_000)
  })
})

describe('[V5] the threads of REST', () => {
  const large = () => {
    const doc = new Y.Doc()
    doc.getText('k').insert(0, 'x'.repeat(100_000))
    return [snapshot(doc)]
  }

  test('[V5] REST starts no thread for small documents', async () => {
    const documents = testStoredDocuments({ limitMs: 1 })
    // An iteration of the event loop that is late leaves even small documents to a thread.
    await stopTime()
    const parts = await stored(documents, 'map', { a: 'x'.repeat(3_000) })
    expect(await documents.capture(parts, undeclared)).toMatchObject({ type: 'map' })
    expect((await documents.render(parts, undeclared)).length).toBeGreaterThan(3_000)
    await documents.close()
  })

  test('[V5] work of REST that exceeds its time limit fails, and later work succeeds', async () => {
    const documents = testStoredDocuments({ limitMs: 500 })
    const slow = slowDocument()
    expect(slow.length).toBeLessThan(125_000)
    await expect(documents.capture([slow], undeclared)).rejects.toThrow(TooSlow)
    expect(parsed(await documents.render(large(), undeclared))).toHaveLength(100_000)
    await documents.close()
  })

  test('[V5] REST processes a document while slow documents of the same API key keep threads busy', async () => {
    const documents = testStoredDocuments()
    const slow = [1, 2, 3].map(() => expect(documents.render([slowDocument()], undeclared)).rejects.toThrow())
    const { snapshot: bytes } = await documents.capture(large(), undeclared)
    expect(load([bytes]).getText('k').length).toBe(100_000)
    await documents.close()
    await Promise.all(slow)
  })

  test('[V5] REST refuses work of an API key beyond its memory limit, until earlier work is done', async () => {
    const documents = testStoredDocuments({ inlineBytes: 0, maxBytesPerLane: 150_000 })
    const first = documents.render(large(), undeclared)
    await expect(documents.render(large(), undeclared)).rejects.toThrow(TooMuchWork)
    expect((await first).length).toBe(100_002)
    expect((await documents.render(large(), undeclared)).length).toBe(100_002)
    await documents.close()
  })
})
