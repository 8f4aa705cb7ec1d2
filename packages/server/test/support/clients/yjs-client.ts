import { WebSocket } from 'ws'
import { WebsocketProvider } from 'y-websocket'
import * as Y from 'yjs'
import type { TestServer } from '../harness.ts'
import { closeAfterTest, editorName, type ProviderClient } from './open-clients.ts'
import { socketUrl } from './raw-socket.ts'

interface YjsOptions extends NonNullable<ConstructorParameters<typeof WebsocketProvider>[3]> {
  name?: string
  doc?: Y.Doc
}

/** A client with the provider of the package `y-websocket`. */
export function yjsClient(
  server: Pick<TestServer, 'url'>,
  token: string,
  { name = editorName, doc = new Y.Doc(), ...options }: YjsOptions = {},
): ProviderClient<WebsocketProvider> {
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
