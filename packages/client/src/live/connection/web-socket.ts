import { parseAddress } from '../../platform/address.ts'

/** The `WebSocket` of browsers and of Node 22, or that of the package `ws`. */
export type WebSocketClass = new (url: string) => {
  send(data: string): void
  close(code?: number, reason?: string): void
}

/** What of it is used. */
export type Socket = Pick<WebSocket, 'binaryType' | 'readyState' | 'send' | 'close' | 'addEventListener'> & {
  /** Only `ws` has it: ends a dead connection without waiting for an answer. */
  terminate?: () => void
}

export const isOpen = (socket: Socket | undefined): socket is Socket => socket?.readyState === 1

export function chooseWebSocket(given: WebSocketClass | undefined): new (url: string) => Socket {
  const chosen = given ?? (globalThis as { WebSocket?: WebSocketClass }).WebSocket
  if (chosen) return chosen as unknown as new (url: string) => Socket
  throw new TypeError(
    "This environment has no WebSocket class. Install the package ws and give its class: import { WebSocket } from 'ws', then client.connect({ token, WebSocket }).",
  )
}

/** `http://host/base` → `ws://host/base/realtime`. In pages, an address may be relative. */
export function realtimeAddress(url: string): string {
  const address = parseAddress(url)
  address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:'
  address.pathname = `${address.pathname.replace(/\/+$/, '')}/realtime`
  return address.href
}
