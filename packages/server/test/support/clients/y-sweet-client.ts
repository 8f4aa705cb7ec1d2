import { type YSweetProvider, createYjsProvider } from '@y-sweet/client'
import { type ClientToken, DocumentManager } from '@y-sweet/sdk'
import { WebSocket } from 'ws'
import * as Y from 'yjs'
import type { Tenant } from '../given.ts'
import type { TestServer } from '../harness.ts'
import { closeAfterTest, editorName, type ProviderClient } from './open-clients.ts'

/** The manager of the package `@y-sweet/sdk`, with the credentials of the API key in its connection string. */
export const ySweetManager = (server: Pick<TestServer, 'url'>, { authToken }: Pick<Tenant, 'authToken'>) =>
  new DocumentManager(`${server.url.replace(/^http/, 'ys').replace('//', `//${authToken}@`)}/y-sweet`)

interface YSweetOptions extends NonNullable<Parameters<typeof createYjsProvider>[3]> {
  docId?: string
  doc?: Y.Doc
}

/** A client with the provider of the package `@y-sweet/client`. */
export function ySweetClient(
  authEndpoint: () => Promise<ClientToken>,
  { docId = editorName, doc = new Y.Doc(), ...options }: YSweetOptions = {},
): ProviderClient<YSweetProvider> {
  let isDestroyed = false
  // A client that is destroyed while it waits for a token would request tokens forever.
  const never = new Promise<never>(() => {})
  const provider = createYjsProvider(doc, docId, () => (isDestroyed ? never : authEndpoint()), {
    WebSocketPolyfill: WebSocket as unknown as typeof globalThis.WebSocket,
    showDebuggerLink: false,
    ...options,
  })
  closeAfterTest({
    destroy() {
      isDestroyed = true
      // The provider's `disconnect` and `destroy` close the socket, and the provider reconnects after every close.
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
