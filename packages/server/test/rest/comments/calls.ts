import type { Comment, CommentAnnotation, Event, Input, Operations } from '@plenum/protocol'
import { expect } from 'vitest'
import { stored } from '../../support/data/filled-tenant.ts'
import * as given from '../../support/given.ts'
import type { TestServer } from '../../support/harness.ts'

export const organizationId = 'org_1'
export const documentId = 'doc_1'
export const ref = { organizationId, documentId }
export const ada = { userId: 'ada', name: 'Ada' }
export const grace = { userId: 'grace', name: 'Grace' }
export const v1 = { version: 'v1' } as const

export const refused = (message: string | RegExp, status = 'INVALID_ARGUMENT') => ({
  status: status === 'INVALID_ARGUMENT' || status === 'FAILED_PRECONDITION' ? 400 : expect.any(Number),
  body: {
    error: { status, message: typeof message === 'string' ? message : expect.stringMatching(message) },
  },
})

/** A new comment of Ada. */
export const comment = <T extends object>(commentText: string, fields?: T) => ({
  commentText,
  from: ada,
  ...(fields as T),
})

/** The calls that the tests of comments use, on `org_1` and `doc_1`. */
export function commentCalls(server: TestServer) {
  /** A tenant with a document, whose members are Ada and Grace. */
  async function tenantWithDocument() {
    const tenant = await given.tenant(server)
    await given.document(tenant)
    await tenant.client.users.add({ organizationId, users: [ada, grace] })
    return withCalls(tenant)
  }

  function withCalls(tenant: given.Tenant) {
    const { client, headers } = tenant
    const add = (annotationId: string, fields: object = {}, commentText = 'Is this right?') =>
      client.commentAnnotations.add({
        ...ref,
        commentAnnotations: [{ annotationId, commentData: [comment(commentText)], ...fields }],
      })
    const reply = (annotationId: string, ...commentData: object[]) =>
      client.comments.add({ ...ref, annotationId, commentData })
    const get = async (filter: object = ref): Promise<CommentAnnotation[]> =>
      (await client.commentAnnotations.get({ organizationId, ...filter })).data as never
    const one = async (annotationId: string) =>
      (await get({ ...ref, annotationIds: [annotationId] }))[0] as CommentAnnotation
    const comments = async (annotationId: string): Promise<Comment[]> =>
      (await client.comments.get({ ...ref, annotationId })).data as never
    const post = async (path: string, data: unknown, version = 'v2') => {
      const { status, body } = await server.post(`/${version}/commentannotations/${path}`, { data }, headers)
      return { status, body }
    }
    /** Checks that every faulty call is refused, and that no row of the tenant changes. */
    const refuseAll = async (faults: readonly [path: string, data: object, message: string | RegExp][]) => {
      const before = await stored(server, tenant)
      for (const [path, data, message] of faults) {
        expect(await post(path, { ...ref, ...data }), String(message)).toEqual(refused(message))
      }
      expect(await stored(server, tenant)).toEqual(before)
    }
    const allEvents = async (filter: Input<Operations['events']['get']>): Promise<Event[]> => {
      const found: Event[] = []
      for (let { after } = filter, hasMore = true; hasMore;) {
        const { data } = await client.events.get({ limit: 500, ...filter, ...(after && { after }) })
        found.push(...data.events)
        ;({ after, hasMore } = data)
      }
      return found
    }
    /**
     * All events, once there are as many as expected. On PostgreSQL they appear when all older transactions have ended, also
     * those of other tests.
     */
    const events = async (count: number, filter: Input<Operations['events']['get']> = {}) => {
      await expect.poll(async () => (await allEvents(filter)).length, { timeout: 20_000 }).toBe(count)
      return allEvents(filter)
    }
    return { ...tenant, add, reply, get, one, comments, post, refuseAll, events }
  }

  return { tenantWithDocument, withCalls }
}
