import { WebsocketProvider } from 'y-websocket'
import { Doc } from 'yjs'
import type { Session, SharedDoc } from './session.ts'

export function connectWithYWebsocket(
  name: string,
  { plenumUrl, token }: Session,
  onStatus: (status: string) => void,
): SharedDoc {
  const doc = new Doc()
  const provider = new WebsocketProvider(`${plenumUrl.replace('http', 'ws')}/yjs`, name, doc, {
    params: { token },
    // Both users are in one browser. Without this option, y-websocket would connect them directly, without the server.
    disableBc: true,
  })
  provider.on('status', ({ status }) => onStatus(status))
  return { doc, awareness: provider.awareness }
}
