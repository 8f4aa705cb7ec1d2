import type { CommentAnnotation } from '@plenum/protocol'
import { describe, expect, test } from 'vitest'
import { rounds } from '../../support/random/effort.ts'
import { stores, useServer } from '../../support/harness.ts'
import { createRandom } from '../../support/random/random.ts'
import { comment, commentCalls, grace, organizationId, ref, v1 } from './calls.ts'

/** What the model knows of an annotation. */
interface Known {
  annotationId: string
  documentId: string
  folderId: string | undefined
  number: number
  author: string
  mentioned: string[]
  status: string
  resolvedBy: string | undefined
  location: string | undefined
  createdAt: number
  lastUpdated: number
}

interface Filter {
  documentId?: string
  documentIds?: string[]
  folderId?: string
  locationIds?: string[]
  userIds?: string[]
  mentionedUserIds?: string[]
  resolvedBy?: string
  statusIds?: string[]
  updatedAfter?: number
  updatedBefore?: number
  createdAfter?: number
  createdBefore?: number
  order?: 'asc' | 'desc'
}

const fits = (known: Known, filter: Filter): boolean => {
  const oneOf = (list: string[] | undefined, values: (string | undefined)[]) =>
    !list || values.some((value) => value !== undefined && list.includes(value))
  return (
    (!filter.documentId || filter.documentId === known.documentId) &&
    (!filter.documentIds || filter.documentIds.includes(known.documentId)) &&
    (!filter.folderId || (known.folderId ?? 'root') === filter.folderId) &&
    oneOf(filter.locationIds, [known.location]) &&
    oneOf(filter.userIds, [known.author]) &&
    oneOf(filter.mentionedUserIds, known.mentioned) &&
    oneOf(filter.statusIds, [known.status]) &&
    (!filter.resolvedBy || known.resolvedBy === filter.resolvedBy) &&
    known.lastUpdated > (filter.updatedAfter ?? -1) &&
    known.lastUpdated < (filter.updatedBefore ?? Infinity) &&
    known.createdAt > (filter.createdAfter ?? -1) &&
    known.createdAt < (filter.createdBefore ?? Infinity)
  )
}

const compareIds = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
const inOrder = (a: Known, b: Known) =>
  a.lastUpdated - b.lastUpdated || compareIds(a.documentId, b.documentId) || a.number - b.number

describe.each(stores)('lists of annotations on %s', (store) => {
  const server = useServer(store)
  const { tenantWithDocument } = commentCalls(server)
  type Calls = Awaited<ReturnType<typeof tenantWithDocument>>

  /** Random annotations in five documents, with few different times, so that many are equal. */
  async function fill({ client }: Calls, count: number): Promise<Known[]> {
    const random = createRandom()
    const documentIds = ['doc_1', 'doc_2', 'doc/3', 'Doc_4', 'doc_5']
    const documents = documentIds.slice(1).map((id) => ({ documentId: id }))
    await client.folders.add({ organizationId, folders: [{ folderId: 'f1' }] })
    await client.documents.add({ organizationId, documents: documents.slice(0, 2) })
    await client.documents.add({ organizationId, folderId: 'f1', documents: documents.slice(2) })
    const users = ['u0', 'u1', 'u2', 'u3'].map((userId) => ({ userId }))
    await client.users.add({ organizationId, users })
    const known: Known[] = []
    for (const id of documentIds) {
      const mine = Array.from({ length: count }, (_, index): Known => {
        const mentioned = users.map(({ userId }) => userId).filter(() => random(3) === 0)
        const status = random.of(['OPEN', 'IN_PROGRESS', 'RESOLVED'])
        return {
          annotationId: `${id}-${index}`,
          documentId: id,
          folderId: documents.slice(2).some(({ documentId }) => documentId === id) ? 'f1' : undefined,
          number: index + 1,
          author: random.of(users).userId,
          mentioned,
          status,
          resolvedBy: undefined,
          location: random(2) ? `l${random(4)}` : undefined,
          createdAt: 1_000 + random(6),
          lastUpdated: 2_000 + random(6),
        }
      })
      await client.commentAnnotations.add({
        organizationId,
        documentId: id,
        commentAnnotations: mine.map(({ annotationId, author, mentioned, location, ...rest }) => ({
          annotationId,
          commentData: [
            comment(`x${mentioned.map((userId) => `{{${userId}}}`).join('')}`, { from: { userId: author } }),
          ],
          ...(location && { location: { id: location } }),
          status: { id: rest.status, name: rest.status, type: 'ongoing' as const },
          createdAt: rest.createdAt,
          lastUpdated: rest.lastUpdated,
        })),
      })
      known.push(...mine)
    }
    return known
  }

  function randomFilter(random: ReturnType<typeof createRandom>): Filter {
    const some = (all: string[]) => all.filter(() => random(2) === 0)
    const maybe = <T>(key: string, value: T) => (random(4) === 0 ? { [key]: value } : {})
    const ids = ['doc_1', 'doc_2', 'doc/3', 'Doc_4', 'doc_5', 'none']
    return {
      ...maybe('documentId', random.of(ids)),
      ...maybe('documentIds', [random.of(ids), ...some(ids)]),
      ...maybe('folderId', random.of(['f1', 'root', 'none'])),
      ...maybe('locationIds', some(['l0', 'l1', 'l2', 'l3'])),
      ...maybe('userIds', some(['u0', 'u1', 'u2', 'u3'])),
      ...maybe('mentionedUserIds', some(['u0', 'u1', 'u2', 'u3'])),
      ...maybe('statusIds', some(['OPEN', 'IN_PROGRESS', 'RESOLVED'])),
      ...maybe('updatedAfter', 1_999 + random(7)),
      ...maybe('updatedBefore', 2_000 + random(7)),
      ...maybe('createdAfter', 999 + random(7)),
      ...maybe('createdBefore', 1_000 + random(7)),
      ...(random(2) === 0 && { order: random.of(['asc', 'desc'] as const) }),
    }
  }

  test(
    '[19.2] any filters and any page size return what a plain model returns, in order, without gaps or repetitions',
    { timeout: 120_000 },
    async () => {
      const calls = await tenantWithDocument()
      const known = await fill(calls, 30)
      const random = createRandom()
      for (let round = 0; round < rounds(24); round++) {
        const filter = randomFilter(random)
        const expected = known.filter((one) => fits(one, filter)).sort(inOrder)
        if (filter.order !== 'asc') expected.reverse()
        const pageSize = random.of([1, 3, 7, 49, 50, 51, 1000])
        const found: string[] = []
        let pageToken: string | undefined
        // A page of one is tried for the first items only.
        const wanted = pageSize === 1 ? expected.slice(0, 5) : expected
        do {
          const page = await calls.client.commentAnnotations.get({
            organizationId,
            ...filter,
            pageSize,
            ...(pageToken && { pageToken }),
          })
          found.push(...(page.data as CommentAnnotation[]).map(({ annotationId }) => annotationId))
          pageToken = page.nextPageToken
        } while (pageToken && found.length < wanted.length)
        const ids = wanted.map(({ annotationId }) => annotationId)
        expect(found.slice(0, wanted.length), JSON.stringify({ filter, pageSize })).toEqual(ids)
        if (pageSize > 1) expect(found).toHaveLength(wanted.length)
      }
    },
  )

  test('[19.2] groupByDocumentId returns the same annotations by document', async () => {
    const calls = await tenantWithDocument()
    const known = await fill(calls, 12)
    const groups: Record<string, string[]> = {}
    let pageToken: string | undefined
    do {
      const page = await calls.client.commentAnnotations.get({
        organizationId,
        groupByDocumentId: true,
        pageSize: 25,
        ...(pageToken && { pageToken }),
      })
      expect(page.message).toBe('Annotations fetched successfully.')
      for (const [id, annotations] of Object.entries(page.data as Record<string, CommentAnnotation[]>)) {
        groups[id] = [...(groups[id] ?? []), ...annotations.map(({ annotationId }) => annotationId)]
      }
      pageToken = page.nextPageToken
    } while (pageToken)
    const expected = known.toSorted(inOrder).toReversed()
    for (const [id, annotations] of Object.entries(groups)) {
      const inDocument = expected.filter((one) => one.documentId === id)
      expect(annotations).toEqual(inDocument.map(({ annotationId }) => annotationId))
    }
    expect(Object.keys(groups)).toHaveLength(5)
    expect(
      await calls.get({ groupByDocumentId: true, annotationIds: ['doc_2-1', 'none', 'doc_1-1'] }),
    ).toMatchObject({ doc_2: [{ annotationId: 'doc_2-1' }], doc_1: [{ annotationId: 'doc_1-1' }] })
  })

  test('[19.2] [19.2.3] annotations are read by id, in the order of the ids, with null for missing ones', async () => {
    const { client, add, get } = await tenantWithDocument()
    const documents = Array.from({ length: 35 }, (_, index) => ({ documentId: `d${index}` }))
    await client.documents.add({ organizationId, documents })
    for (const { documentId } of documents) {
      const commentAnnotations = [{ annotationId: 'same', commentData: [comment('x')] }]
      await client.commentAnnotations.add({ organizationId, documentId, commentAnnotations })
    }
    await add('a1')
    await add('a2')
    const ids = async (filter: object) => (await get(filter)).map((one) => one && one.annotationId)
    expect(await ids({ ...ref, annotationIds: ['a2', 'none', 'a1', 'a2', 'same'] })).toEqual([
      'a2',
      null,
      'a1',
      null,
    ])
    expect(await ids({ annotationIds: ['a2', 'same'] })).toEqual(['a2', ...Array(30).fill('same')])
    expect(await ids({ annotationIds: ['same'], documentIds: ['d3', 'd34', 'none'] })).toEqual([
      'same',
      'same',
    ])
    expect(await ids({ ...ref, annotationIds: ['a1'], userIds: ['grace'] })).toEqual([null])
    expect(await ids({ annotationIds: [] })).toEqual([])
    expect(await ids({ mentionedUserIds: [] })).toEqual([])
  })

  test('[19.2.1] v1 requires a document, has no pages and writes all times in ISO 8601', async () => {
    const { client, add, post } = await tenantWithDocument()
    const createdAt = Date.UTC(2024, 1, 29)
    const commentData = [comment('x', { createdAt, lastUpdated: createdAt, commentId: 1 })]
    await add('a1', { createdAt, lastUpdated: createdAt, commentData })
    for (let index = 0; index < 5; index++) await add(`b${index}`)
    const iso = '2024-02-29T00:00:00.000Z'
    const old = await client.commentAnnotations.get({ ...ref, pageSize: 2 }, v1)
    expect(old.message).toBe('Annotations fetched successfully.')
    expect(old.data).toHaveLength(6)
    expect(old.nextPageToken).toBeUndefined()
    const [oldest] = (old.data as CommentAnnotation[]).filter(({ annotationId }) => annotationId === 'a1')
    expect(oldest).toMatchObject({
      createdAt: iso,
      lastUpdated: iso,
      comments: [{ createdAt: iso, lastUpdated: iso }],
    })
    const [recent] = (await client.commentAnnotations.get({ ...ref, annotationIds: ['a1'] }))
      .data as CommentAnnotation[]
    expect(recent).toMatchObject({
      createdAt,
      lastUpdated: createdAt,
      comments: [{ createdAt, lastUpdated: iso }],
    })
    const required = { error: { status: 'INVALID_ARGUMENT', message: 'documentId is required.' } }
    expect(await post('get', { organizationId }, 'v1')).toEqual({ status: 400, body: required })
    const thread = { ...ref, annotationId: 'a1' }
    expect(await client.comments.get(thread, v1)).toMatchObject({
      message: 'Comments(s) retrieved successfully.',
      data: [{ createdAt: iso }],
    })
    expect(await client.comments.get({ ...thread, commentIds: [2, 1, 2], userIds: ['ada'] })).toMatchObject({
      message: 'Comments retrieved successfully.',
      data: [null, { commentId: 1, createdAt }],
    })
    expect((await client.comments.get({ ...thread, userIds: [grace.userId] })).data).toEqual([])
  })
})
