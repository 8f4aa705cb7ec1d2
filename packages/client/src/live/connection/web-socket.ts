import { parseAddress } from '../../platform/address.ts'

/** The class `WebSocket` of browsers and of Node 22, or that of the package `ws`. */
export type WebSocketClass = new (url: string) => {
  send(data: string): void
  close(code?: number, reason?: string): void
}

/** The members of a WebSocket that the client uses. */
export type Socket = Pick<WebSocket, 'binaryType' | 'readyState' | 'send' | 'close' | 'addEventListener'> & {
  /** Exists only in `ws`: closes a dead connection without waiting for an answer. */
  terminate?: () => void
}

export const isOpen = (socket: Socket): boolean => socket.readyState === 1

export function chooseWebSocket(given: WebSocketClass | undefined): new (url: string) => Socket {
  const chosen = given ?? (globalThis as { WebSocket?: WebSocketClass }).WebSocket
  if (chosen) return chosen as unknown as new (url: string) => Socket
  throw new TypeError(
    "This environment has no WebSocket class. Install the package ws and pass its class: import { WebSocket } from 'ws', then client.connect({ token, WebSocket }).",
  )
}

/** `http://host/base` → `ws://host/base/realtime`. In a web page the URL may be relative. */
export function realtimeAddress(url: string): string {
  const address = parseAddress(url)
  address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:'
  address.pathname = `${address.pathname.replace(/\/+$/, '')}/realtime`
  return address.href
}
