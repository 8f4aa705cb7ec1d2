import { HocuspocusProvider, HocuspocusProviderWebsocket } from '@hocuspocus/provider'
import { afterEach, expect } from 'vitest'
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

export const socketUrl = (server: Pick<TestServer, 'url'>, path: string) =>
  server.url.replace(/^http/, 'ws') + path

const open = new Set<{ destroy(): void }>()
/** Closes what a test opened. */
export function closeClients(): void {
  for (const one of open) one.destroy()
  open.clear()
}
afterEach(closeClients)

export const editorName = 'org_1/doc_1/note'

export interface Live<P> {
  provider: P
  doc: Y.Doc
  text: Y.Text
}

/** A stock y-websocket client. */
export function yjsClient(
  server: Pick<TestServer, 'url'>,
  token: string,
  { name = editorName, doc = new Y.Doc() }: { name?: string; doc?: Y.Doc } = {},
): Live<WebsocketProvider> {
  const provider = new WebsocketProvider(socketUrl(server, '/yjs'), name, doc, {
    params: { token },
    WebSocketPolyfill: WebSocket as unknown as typeof globalThis.WebSocket,
    // Without the channel between tabs: everything goes through the server.
    disableBc: true,
    maxBackoffTime: 100,
  })
  open.add(provider)
  return { provider, doc, text: doc.getText('content') }
}

/** A stock Hocuspocus client with a socket of its own. */
export function hocuspocusClient(
  server: Pick<TestServer, 'url'>,
  token: string | (() => string | Promise<string>),
  { name = editorName, doc = new Y.Doc() }: { name?: string; doc?: Y.Doc } = {},
): Live<HocuspocusProvider> & { socket: HocuspocusProviderWebsocket } {
  const socket = hocuspocusSocket(server)
  const provider = new HocuspocusProvider({
    websocketProvider: socket,
    name,
    document: doc,
    token: token as () => string,
  })
  provider.attach()
  open.add({ destroy: () => provider.destroy() })
  return { provider, doc, text: doc.getText('content'), socket }
}

export function hocuspocusSocket(server: Pick<TestServer, 'url'>): HocuspocusProviderWebsocket {
  const socket = new HocuspocusProviderWebsocket({
    url: socketUrl(server, '/hocuspocus'),
    WebSocketPolyfill: WebSocket,
    delay: 20,
    minDelay: 20,
    maxDelay: 100,
  })
  open.add(socket)
  return socket
}

export const synced = (...clients: { provider: { synced: boolean } }[]) =>
  expect.poll(() => clients.every(({ provider }) => provider.synced), { timeout: 10_000 }).toBe(true)

/** What everyone has who has the same document. */
export const stateOf = (doc: Y.Doc) => Buffer.from(Y.encodeStateAsUpdate(doc)).toString('base64')

export const converged = (...docs: Y.Doc[]) =>
  expect.poll(() => new Set(docs.map(stateOf)).size, { timeout: 10_000 }).toBe(1)

/** The close code and reason of a raw socket. */
export function closed(socket: WebSocket): Promise<{ code: number; reason: string }> {
  return new Promise((resolve) =>
    socket.once('close', (code, reason) => resolve({ code, reason: reason.toString() })),
  )
}
