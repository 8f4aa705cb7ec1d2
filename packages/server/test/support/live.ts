import {
  HocuspocusProvider,
  type CompleteHocuspocusProviderConfiguration,
  HocuspocusProviderWebsocket,
} from '@hocuspocus/provider'
import { type YSweetProvider, createYjsProvider } from '@y-sweet/client'
import { type ClientToken, DocumentManager } from '@y-sweet/sdk'
import { expect, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { WebsocketProvider } from 'y-websocket'
import * as Y from 'yjs'
import type { Tenant } from './given.ts'
import type { TestServer } from './harness.ts'

type Resource =
  | { type: 'organization'; id: string; accessRole?: 'viewer' | 'editor'; expiresAt?: number }
  | {
      type: 'folder' | 'document'
      id: string
      organizationId: string
      accessRole?: 'viewer' | 'editor'
      expiresAt?: number
    }

/** A user token, generated like by the backend of an application. */
export async function tokenFor(
  { client }: Tenant,
  userId = 'ada',
  { role, resources }: { role?: 'viewer' | 'editor'; resources?: Resource[] } = {},
): Promise<string> {
  const { data } = await client.auth.generateToken({
    userId,
    userProperties: { name: `Name of ${userId}`, email: `${userId}@example.com` },
    permissions: {
      resources: resources ?? [{ type: 'organization', id: 'org_1', ...(role && { accessRole: role }) }],
    },
  })
  return data.token
}

/** A document of `org_1` that only users with a grant on it may open. */
export async function lockedDocument({ client }: Tenant, documentId: string): Promise<void> {
  await client.documents.add({
    organizationId: 'org_1',
    documents: [{ documentId }],
    createOrganization: true,
  })
  await client.documents.updateAccess({
    organizationId: 'org_1',
    documentIds: [documentId],
    accessType: 'restricted',
  })
}

export const socketUrl = (server: Pick<TestServer, 'url'>, path: string) =>
  server.url.replace(/^http/, 'ws') + path

const open = new Set<{ destroy(): void }>()
/** Closes all clients of a test before its end. */
export function closeClients(): void {
  for (const client of open) client.destroy()
  open.clear()
}

/** Not with `afterEach`: it would apply only to the first of the files that share this module. */
function closeAfterTest(client: { destroy(): void }): void {
  open.add(client)
  onTestFinished(() => {
    if (open.delete(client)) client.destroy()
  })
}

export const editorName = 'org_1/doc_1/note'

export interface Live<P> {
  provider: P
  doc: Y.Doc
  text: Y.Text
}

interface YjsOptions extends NonNullable<ConstructorParameters<typeof WebsocketProvider>[3]> {
  name?: string
  doc?: Y.Doc
}

/** A stock y-websocket client. */
export function yjsClient(
  server: Pick<TestServer, 'url'>,
  token: string,
  { name = editorName, doc = new Y.Doc(), ...options }: YjsOptions = {},
): Live<WebsocketProvider> {
  const provider = new WebsocketProvider(socketUrl(server, '/yjs'), name, doc, {
    params: { token },
    WebSocketPolyfill: WebSocket as unknown as typeof globalThis.WebSocket,
    // Without the channel between tabs, so that all messages go through the server.
    disableBc: true,
    maxBackoffTime: 100,
    ...options,
  })
  closeAfterTest(provider)
  return { provider, doc, text: doc.getText('content') }
}

interface HocuspocusOptions extends Partial<CompleteHocuspocusProviderConfiguration> {
  doc?: Y.Doc
  socket?: HocuspocusProviderWebsocket
}

/** A stock Hocuspocus client. Default: its own socket. */
export function hocuspocusClient(
  server: Pick<TestServer, 'url'>,
  token: string | (() => string | Promise<string>),
  {
    name = editorName,
    doc = new Y.Doc(),
    socket = hocuspocusSocket(server),
    ...options
  }: HocuspocusOptions = {},
): Live<HocuspocusProvider> & { socket: HocuspocusProviderWebsocket } {
  const provider = new HocuspocusProvider({
    websocketProvider: socket,
    name,
    document: doc,
    token: token as () => string,
    ...options,
  })
  provider.attach()
  closeAfterTest({ destroy: () => provider.destroy() })
  return { provider, doc, text: doc.getText('content'), socket }
}

export function hocuspocusSocket(
  server: Pick<TestServer, 'url'>,
  query = '',
  options: { WebSocketPolyfill?: new (url: string) => WebSocket } = {},
): HocuspocusProviderWebsocket {
  const socket = new HocuspocusProviderWebsocket({
    url: socketUrl(server, `/hocuspocus${query}`),
    WebSocketPolyfill: WebSocket,
    delay: 20,
    minDelay: 20,
    maxDelay: 100,
    ...options,
  })
  closeAfterTest({
    destroy() {
      // Closing a socket that is still connecting emits an error, and the provider no longer listens for it.
      socket.webSocket?.addEventListener('error', () => {})
      socket.destroy()
    },
  })
  return socket
}

/** A stock SDK of Y-Sweet, with the credentials of the API key in its connection string. */
export const ySweetManager = (server: Pick<TestServer, 'url'>, { authToken }: Pick<Tenant, 'authToken'>) =>
  new DocumentManager(`${server.url.replace(/^http/, 'ys').replace('//', `//${authToken}@`)}/y-sweet`)

interface YSweetOptions extends NonNullable<Parameters<typeof createYjsProvider>[3]> {
  docId?: string
  doc?: Y.Doc
}

/** A stock client of Y-Sweet. */
export function ySweetClient(
  authEndpoint: () => Promise<ClientToken>,
  { docId = editorName, doc = new Y.Doc(), ...options }: YSweetOptions = {},
): Live<YSweetProvider> {
  let isOver = false
  // A client that is destroyed while it waits for a token would request tokens forever.
  const never = new Promise<never>(() => {})
  const provider = createYjsProvider(doc, docId, () => (isOver ? never : authEndpoint()), {
    WebSocketPolyfill: WebSocket as unknown as typeof globalThis.WebSocket,
    showDebuggerLink: false,
    ...options,
  })
  closeAfterTest({
    destroy() {
      isOver = true
      // Its `disconnect` and `destroy` close the socket, and the client reconnects after every close.
      const { websocket } = provider as unknown as { websocket: WebSocket | null }
      websocket?.removeAllListeners()
      websocket?.on('error', () => {})
      provider.connect = () => Promise.resolve()
      provider.disconnect()
      provider.destroy()
    },
  })
  return { provider, doc, text: doc.getText('content') }
}

/** Polls until the assertion holds, which it does once all messages are delivered. */
export const eventually = <T>(read: () => T | Promise<T>) => expect.poll(read, { interval: 5 })

export const synced = (...clients: { provider: { synced: boolean } }[]) =>
  eventually(() => clients.every(({ provider }) => provider.synced)).toBe(true)

/** Waits until the server has acknowledged all updates of these clients. */
export const saved = (...clients: { provider: HocuspocusProvider }[]) =>
  eventually(() => clients.map(({ provider }) => provider.unsyncedChanges)).toEqual(clients.map(() => 0))

/**
 * The whole content of a document; equal text for equal content. A copy encodes it, because whether a document stores
 * adjacent deletions in one piece or two depends on the order of their arrival.
 */
export function stateOf(doc: Y.Doc): string {
  const copy = new Y.Doc()
  Y.applyUpdate(copy, Y.encodeStateAsUpdate(doc))
  return Buffer.from(Y.encodeStateAsUpdate(copy)).toString('base64')
}

export const converged = (...docs: Y.Doc[]) => eventually(() => new Set(docs.map(stateOf)).size).toBe(1)

/** The close code and reason of a raw socket. */
export function closed(socket: WebSocket): Promise<{ code: number; reason: string }> {
  return new Promise((resolve) =>
    socket.once('close', (code, reason) => resolve({ code, reason: reason.toString() })),
  )
}
