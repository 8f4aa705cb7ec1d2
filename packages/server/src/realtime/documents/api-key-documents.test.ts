import { describe, expect, test } from 'vitest'
import { documentKey } from '../../store/refs.ts'
import { ApiKeyDocuments } from './api-key-documents.ts'
import type { OpenDocument } from './open-document.ts'

/** An API key with the open documents `o1/d1`, `o1/d2` and `o2/d1`. Ada and Bob have each of them open. */
function scene() {
  const documents = new ApiKeyDocuments()
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
    documents.documents.set(documentKey(document), document as unknown as OpenDocument)
  }
  return { documents, authorized, changes }
}

describe('[R9] the open documents of an API key when access changes', () => {
  test('[R9] a change of the access of some users checks only the documents that one of these users has open', () => {
    const { documents, authorized, changes } = scene()
    const [ada, bob] = [documents.accessVersions.of('ada'), documents.accessVersions.of('bob')]
    documents.onAccessChanged({ userIds: ['ada', 'ada'] })
    expect(documents.accessVersions.of('ada')).toBeGreaterThan(ada)
    expect(documents.accessVersions.of('bob')).toBe(bob)
    expect(authorized).toHaveLength(3)
    expect([...changes.values()]).toEqual([1, 1, 1])
    documents.onAccessChanged({ userIds: ['eve'] })
    expect(authorized).toHaveLength(3)
    expect([...changes.values()]).toEqual([1, 1, 1])
  })

  test('[R9] a change of access to some documents or organizations checks only the documents named or in these organizations', () => {
    const { documents, authorized, changes } = scene()
    documents.onAccessChanged({ organizationIds: ['o1'], documentIds: ['d1', 'd1', 'missing'] })
    expect([...changes]).toEqual([['o1/d1', 1]])
    documents.onAccessChanged({ organizationIds: ['o1'] })
    expect([...changes]).toEqual([
      ['o1/d1', 2],
      ['o1/d2', 1],
    ])
    expect(authorized).toEqual(['o1/d1', 'o1/d1', 'o1/d2'])
    expect(documents.accessVersions.of('ada')).toBe(0)
  })

  test('[R9] a change that names nothing checks all documents of the API key', () => {
    const { documents, authorized } = scene()
    documents.onAccessChanged({})
    expect(documents.accessVersions.of('ada')).toBe(1)
    expect(authorized).toEqual(['o1/d1', 'o1/d2', 'o2/d1'])
  })
})
