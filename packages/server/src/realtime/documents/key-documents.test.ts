import { describe, expect, test } from 'vitest'
import { documentKey } from '../../store/refs.ts'
import { KeyDocuments } from './key-documents.ts'
import type { OpenDocument } from './open-document.ts'

/** An API key with the open documents `o1/d1`, `o1/d2` and `o2/d1`. Ada and Bob have each of them open. */
function scene() {
  const key = new KeyDocuments()
  const authorized: string[] = []
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
      hasAny: (userIds: ReadonlySet<string>) => userIds.has('ada') || userIds.has('bob'),
      invalidateAccess: () => changes.set(name, (changes.get(name) ?? 0) + 1),
      authorize: async () => void authorized.push(name),
    }
    key.documents.set(documentKey(document), document as unknown as OpenDocument)
  }
  return { key, authorized, changes }
}

describe('[R9] a change of access authorizes only the members that it may concern', () => {
  test('[R9] a change of users authorizes the documents that one of them has open', () => {
    const { key, authorized, changes } = scene()
    const [ada, bob] = [key.epochs.of('ada'), key.epochs.of('bob')]
    key.onAccessChanged({ userIds: ['ada', 'ada'] })
    expect(key.epochs.of('ada')).toBeGreaterThan(ada)
    expect(key.epochs.of('bob')).toBe(bob)
    expect(authorized).toHaveLength(3)
    expect([...changes.values()]).toEqual([1, 1, 1])
    key.onAccessChanged({ userIds: ['eve'] })
    expect(authorized).toHaveLength(3)
    expect([...changes.values()]).toEqual([1, 1, 1])
  })

  test('[R9] a change of documents or organizations authorizes only these', () => {
    const { key, authorized, changes } = scene()
    key.onAccessChanged({ organizationIds: ['o1'], documentIds: ['d1', 'd1', 'missing'] })
    expect([...changes]).toEqual([['o1/d1', 1]])
    key.onAccessChanged({ organizationIds: ['o1'] })
    expect([...changes]).toEqual([
      ['o1/d1', 2],
      ['o1/d2', 1],
    ])
    expect(authorized).toEqual(['o1/d1', 'o1/d1', 'o1/d2'])
    expect(key.epochs.of('ada')).toBe(0)
  })

  test('[R9] a change that names nothing authorizes all documents of the API key', () => {
    const { key, authorized } = scene()
    key.onAccessChanged({})
    expect(key.epochs.of('ada')).toBe(1)
    expect(authorized).toEqual(['o1/d1', 'o1/d2', 'o2/d1'])
  })
})
