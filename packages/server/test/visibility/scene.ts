import type { Client } from '@plenum/client'
import { operations, type Operation } from '@plenum/protocol'
import { expect, vi } from 'vitest'
import { RealtimeSocket } from '../support/clients/realtime-socket.ts'
import { transactionsOfOthersEnded } from '../support/servers/other-databases.ts'
import * as given from '../support/given.ts'
import type { TestServer } from '../support/harness.ts'
import {
  canRead,
  type DocumentId,
  documentIds,
  documents,
  organizationId,
  otherOrganizationId,
  type RowId,
  rowIds,
  rowOf,
  type UserId,
  userIds,
  userOf,
  withToken,
} from './oracle.ts'

/** What an operation answers, in the form that all channels share. */
export type Answer =
  | { result: { data: unknown } & Record<string, unknown> }
  | { error: { status: string; message: string; details?: unknown } }

/** Calls an operation, such as `comments.get`. */
export type Ask = (operation: string, input: object) => Promise<Answer>

export type Channel = 'rest' | 'call'

/** What a socket received: the annotations that changed, and those that were removed. */
export interface Received {
  changed: string[]
  removed: string[]
}

/** The annotation that changes last in each step, so that everything before it has arrived with it. */
export const marker = 'marker'
/** The annotation whose comments all users have viewed. */
export const viewedId: RowId = 'public'
/** Grants that end do so this much later. */
const lifetimeMs = 3_600_000

export type Scene = Awaited<ReturnType<typeof buildScene>>

/**
 * Adds all annotations to both documents, notifies all users who may be notified, and opens both documents on a socket of each
 * user. Then grants end, a user is removed, and annotations change or are deleted.
 */
export async function buildScene(server: TestServer) {
  const tenant = await given.tenant(server)
  const { client } = tenant
  await client.activityConfig.update({ activityServiceConfig: { isEnabled: true } })
  await client.organizations.add({
    organizations: [{ organizationId }, { organizationId: otherOrganizationId }],
  })
  await client.documents.add({
    organizationId,
    documents: documentIds.map((documentId) => ({ documentId, accessType: documents[documentId] })),
  })
  const expiresAt = Math.floor((Date.now() + lifetimeMs) / 1000)
  const tokens = new Map<UserId, string>()
  for (const userId of userIds) tokens.set(userId, await addUser(tenant, userId, expiresAt))

  const place = (documentId: DocumentId) => ({ organizationId, documentId })
  for (const documentId of documentIds) await addAnnotations(tenant, place(documentId))
  const sockets = new Map<UserId, RealtimeSocket>()
  for (const userId of userIds) {
    sockets.set(userId, await RealtimeSocket.connect(server, tokens.get(userId) as string))
  }
  for (const socket of sockets.values()) await openDocuments(socket)

  server.clock.offsetMs = 2 * lifetimeMs
  await client.users.delete({ organizationId, userIds: ['removed'] })
  // Documents that users may not read any more are closed. The others stay open.
  for (const [userId, socket] of sockets) {
    const lost = documentIds.filter((documentId) => !canRead(userId, documentId, withToken))
    for (const documentId of lost) await socket.take('closed', { ref: documentIds.indexOf(documentId) })
  }

  /** Runs the step in both documents. Returns what each user received of it in each document. */
  const receivedDuring = async (step: (documentId: DocumentId) => Promise<unknown>) => {
    for (const documentId of documentIds) {
      await step(documentId)
      await prioritize(client, documentId, [marker])
    }
    const received = new Map<UserId, Record<DocumentId, Received>>()
    for (const [userId, socket] of sockets) {
      const inDocument = async (documentId: DocumentId) =>
        canRead(userId, documentId, withToken)
          ? receivedUntilMarker(socket, documentIds.indexOf(documentId))
          : nothing
      received.set(userId, { open: await inDocument('open'), closed: await inDocument('closed') })
      expect(socket.messages.filter(({ type }) => type === 'threads')).toEqual([])
    }
    return (userId: UserId, documentId: DocumentId) => received.get(userId)?.[documentId]
  }
  const changes = await receivedDuring((documentId) => changeAnnotations(tenant, documentId))
  const updates = await receivedDuring((documentId) => prioritize(client, documentId, rowIds))
  const annotationIds = [viewedId]
  for (const documentId of documentIds) {
    for (const userId of userIds) {
      await client.commentAnnotations.markViewed({ ...place(documentId), annotationIds, userId })
    }
  }

  // Users read events on sockets as well.
  await transactionsOfOthersEnded(server.database)
  const ask = (userId: UserId, channel: Channel): Ask =>
    channel === 'rest'
      ? (operation, input) =>
          post(server, operation, input, { authorization: `Bearer ${tokens.get(userId)}` })
      : (operation, input) => call(sockets.get(userId) as RealtimeSocket, operation, input)
  const askWithKey: Ask = (operation, input) => post(server, operation, input, tenant.headers)
  return { ...tenant, ask, askWithKey, changes, updates }
}

const nothing: Received = { changed: [], removed: [] }

/** Grants the user what the matrix says. Returns a token from before the grants are lost. */
async function addUser({ client }: given.Tenant, userId: UserId, expiresAt: number): Promise<string> {
  const { memberOf, role, fields = [], fieldsIn = organizationId, isTokenOnly, loses } = userOf(userId)
  const ending = loses === 'by time' ? { expiresAt } : {}
  const resources = [
    ...(memberOf ? [{ type: 'organization' as const, id: memberOf, ...ending }] : []),
    ...(role
      ? documentIds.map((id) => ({ type: 'document' as const, id, organizationId, accessRole: role }))
      : []),
    ...fields.map((id) => ({ type: 'context' as const, id, organizationId: fieldsIn, ...ending })),
  ]
  // Every user gets a profile, with or without grants.
  const elsewhere = { type: 'folder' as const, id: 'elsewhere', organizationId: otherOrganizationId }
  const stored = isTokenOnly ? [elsewhere] : [elsewhere, ...resources]
  await client.permissions.add({ user: { userId }, permissions: { resources: stored } })
  const { data } = await client.auth.generateToken({
    userId,
    userProperties: { name: userId, email: `${userId}@example.com` },
    permissions: { resources },
  })
  return data.token
}

/** Adds all annotations. All users are mentioned in them, so they follow them, and are notified of the second comment. */
async function addAnnotations(
  { client }: given.Tenant,
  place: { organizationId: string; documentId: DocumentId },
): Promise<void> {
  const mentions = userIds.map((userId) => `{{${userId}}}`).join(' ')
  const first = { commentId: 1, commentText: mentions, from: { userId: 'author' } }
  const second = { commentId: 2, commentText: 'second', from: { userId: 'actor' }, triggerNotification: true }
  const commentAnnotations = rowIds.map((annotationId) => ({
    annotationId,
    commentData: [{ ...first, triggerActivities: true }, second],
    ...rowOf(annotationId).fields,
  }))
  await client.commentAnnotations.add({
    ...place,
    commentAnnotations: [
      ...commentAnnotations,
      { annotationId: marker, commentData: [{ ...second, triggerNotification: false }] },
    ],
  })
  await vi.waitFor(async () => {
    expect((await client.notifications.get(place)).data.length).toBe(rowIds.length)
  }, 60_000)
}

async function changeAnnotations({ client }: given.Tenant, documentId: DocumentId): Promise<void> {
  const place = { organizationId, documentId }
  for (const id of rowIds) {
    const { later } = rowOf(id)
    if (later === 'deleted') await client.commentAnnotations.delete({ ...place, annotationIds: [id] })
    else if (later) {
      await client.commentAnnotations.update({ ...place, annotationIds: [id], updatedData: later })
    }
  }
}

/** Changes the annotations, and nothing that the matrix is about. */
const prioritize = (client: Client, documentId: DocumentId, annotationIds: string[]) =>
  client.commentAnnotations.update({
    organizationId,
    documentId,
    annotationIds,
    updatedData: { priority: { id: 'p1', name: 'High' } },
  })

async function openDocuments(socket: RealtimeSocket): Promise<void> {
  for (const [ref, documentId] of documentIds.entries()) {
    socket.send({ type: 'open', ref, organizationId, documentId, topics: ['comments'] })
  }
  const isAnswer = ({ type }: { type: string }) => type === 'opened' || type === 'closed'
  await vi.waitFor(() => expect(socket.messages.filter(isAnswer).length).toBe(documentIds.length), 10_000)
}

async function receivedUntilMarker(socket: RealtimeSocket, ref: number): Promise<Received> {
  const received = { changed: new Set<string>(), removed: new Set<string>() }
  while (!received.changed.has(marker)) {
    const { changed, removed, reset, large } = await socket.take('threads', { ref })
    expect({ reset, large }).toEqual({ reset: false, large: [] })
    for (const one of changed) received.changed.add((one as { annotationId: string }).annotationId)
    for (const id of removed) received.removed.add(id)
  }
  received.changed.delete(marker)
  return { changed: [...received.changed].sort(), removed: [...received.removed].sort() }
}

async function post(
  server: TestServer,
  operation: string,
  input: object,
  headers: Record<string, string>,
): Promise<Answer> {
  const [family, verb] = operation.split('.') as [keyof typeof operations, string]
  const { path } = (operations[family] as Record<string, Operation>)[verb] as Operation
  const { body } = await server.post(`/v2${path}`, { data: input }, headers)
  return body.error ? { error: pick(body.error) } : { result: body.result }
}

async function call(socket: RealtimeSocket, operation: string, input: object): Promise<Answer> {
  const message = await socket.call(operation, input)
  return message.type === 'done' ? { result: message.result as never } : { error: pick(message) }
}

const pick = ({ status, message, details }: { status: string; message: string; details?: unknown }) => ({
  status,
  message,
  ...(details !== undefined && { details }),
})
