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

/** A user token as an application's backend gets it. */
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

/** A document of `org_1` that nobody may open without a grant of its own. */
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
/** Closes what a test opened, before it ends. */
export function closeClients(): void {
  for (const one of open) one.destroy()
  open.clear()
}

/** Not by `afterEach`: that would count for the first file only of those that share this module. */
function closeAfterTest(one: { destroy(): void }): void {
  open.add(one)
  onTestFinished(() => {
    if (open.delete(one)) one.destroy()
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
    // Without the channel between tabs: everything goes through the server.
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

/** A stock Hocuspocus client, with a socket of its own unless one is given. */
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
      // Whoever closes one that still connects gets an error, for which the provider does not listen any more.
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
  // A client that is destroyed while it waits for a token would ask for one for ever.
  const never = new Promise<never>(() => {})
  const provider = createYjsProvider(doc, docId, () => (isOver ? never : authEndpoint()), {
    WebSocketPolyfill: WebSocket as unknown as typeof globalThis.WebSocket,
    showDebuggerLink: false,
    ...options,
  })
  closeAfterTest({
    destroy() {
      isOver = true
      // Its `disconnect` and `destroy` close the socket, and whenever that is closed it connects again.
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

/** What becomes true as soon as all messages are through. */
export const eventually = <T>(read: () => T | Promise<T>) => expect.poll(read, { interval: 5 })

export const synced = (...clients: { provider: { synced: boolean } }[]) =>
  eventually(() => clients.every(({ provider }) => provider.synced)).toBe(true)

/** Everything that these clients sent is stored, as far as they know. */
export const saved = (...clients: { provider: HocuspocusProvider }[]) =>
  eventually(() => clients.map(({ provider }) => provider.unsyncedChanges)).toEqual(clients.map(() => 0))

/**
 * Everything in a document, the same text for the same content. It is written by a copy: whether a document keeps what was
 * deleted side by side in one piece or in two depends on the order in which that came.
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
