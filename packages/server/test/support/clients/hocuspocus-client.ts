import {
  HocuspocusProvider,
  type CompleteHocuspocusProviderConfiguration,
  HocuspocusProviderWebsocket,
} from '@hocuspocus/provider'
import { WebSocket } from 'ws'
import * as Y from 'yjs'
import type { TestServer } from '../harness.ts'
import { eventually } from './convergence.ts'
import { closeAfterTest, editorName, type ProviderClient } from './open-clients.ts'
import { socketUrl } from './raw-socket.ts'

interface HocuspocusOptions extends Partial<CompleteHocuspocusProviderConfiguration> {
  doc?: Y.Doc
  socket?: HocuspocusProviderWebsocket
}

/** A client with the provider of the package `@hocuspocus/provider`. Default: its own socket. */
export function hocuspocusClient(
  server: Pick<TestServer, 'url'>,
  token: string | (() => string | Promise<string>),
  {
    name = editorName,
    doc = new Y.Doc(),
    socket = hocuspocusSocket(server),
    ...options
  }: HocuspocusOptions = {},
): ProviderClient<HocuspocusProvider> & { socket: HocuspocusProviderWebsocket } {
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

/** A socket that several Hocuspocus clients can share. */
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

/** Waits until the server has acknowledged all updates of these clients. */
export const saved = (...clients: { provider: HocuspocusProvider }[]) =>
  eventually(() => clients.map(({ provider }) => provider.unsyncedChanges)).toEqual(clients.map(() => 0))
