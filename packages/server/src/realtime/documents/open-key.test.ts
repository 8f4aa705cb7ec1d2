import { describe, expect, test } from 'vitest'
import type { OpenDocument } from './open-document.ts'
import { idOf, OpenKey } from './open-key.ts'

/** A key with open documents `o1/d1`, `o1/d2` and `o2/d1`; in each are Ada and Bob. */
function scene() {
  const key = new OpenKey()
  const judged: string[] = []
  const changes = new Map<string, number>()
  for (const [organizationId, documentId] of [
    ['o1', 'd1'],
    ['o1', 'd2'],
    ['o2', 'd1'],
  ] as const) {
    const name = `${organizationId}/${documentId}`
    const document = {
      organizationId,
      documentId,
      has: (userIds: ReadonlySet<string>) => userIds.has('ada') || userIds.has('bob'),
      accessChanged: () => changes.set(name, (changes.get(name) ?? 0) + 1),
      judge: async () => void judged.push(name),
    }
    key.documents.set(idOf(organizationId, documentId), document as unknown as OpenDocument)
  }
  return { key, judged, changes }
}

describe('[R9] a change of access concerns only those whose access it may change', () => {
  test('[R9] users: those who are in a document with them, and nobody else', () => {
    const { key, judged, changes } = scene()
    const [ada, bob] = [key.epochOf('ada'), key.epochOf('bob')]
    key.accessChanged({ userIds: ['ada', 'ada'] })
    expect(key.epochOf('ada')).toBeGreaterThan(ada)
    expect(key.epochOf('bob')).toBe(bob)
    expect(judged).toHaveLength(3)
    expect([...changes.values()]).toEqual([1, 1, 1])
    key.accessChanged({ userIds: ['eve'] })
    expect(judged).toHaveLength(3)
    expect([...changes.values()]).toEqual([1, 1, 1])
  })

  test('[R9] documents and organizations: those who are there', () => {
    const { key, judged, changes } = scene()
    key.accessChanged({ organizationIds: ['o1'], documentIds: ['d1', 'd1', 'missing'] })
    expect([...changes]).toEqual([['o1/d1', 1]])
    key.accessChanged({ organizationIds: ['o1'] })
    expect([...changes]).toEqual([
      ['o1/d1', 2],
      ['o1/d2', 1],
    ])
    expect(judged).toEqual(['o1/d1', 'o1/d1', 'o1/d2'])
    expect(key.epochOf('ada')).toBe(0)
  })

  test('[R9] everybody', () => {
    const { key, judged } = scene()
    key.accessChanged({})
    expect(key.epochOf('ada')).toBe(1)
    expect(judged).toEqual(['o1/d1', 'o1/d2', 'o2/d1'])
  })

  test('[R9] more users than are counted: an epoch never returns to what it was', () => {
    const { key } = scene()
    const seen = [key.epochOf('ada')]
    for (let times = 0; times < 25; times++) {
      key.accessChanged({ userIds: ['ada', ...Array.from({ length: 1_000 }, (_, i) => `${times}_${i}`)] })
      seen.push(key.epochOf('ada'))
    }
    expect(seen).toEqual([...new Set(seen)].toSorted((a, b) => a - b))
    expect(key.epochOf('bob')).toBeGreaterThan(0)
  })
})
