import { WebsocketProvider } from 'y-websocket'
import { Doc } from 'yjs'
import type { Session, Shared } from './session.ts'

export function connectByYWebsocket(
  name: string,
  { plenumUrl, token }: Session,
  tell: (status: string) => void,
): Shared {
  const doc = new Doc()
  const provider = new WebsocketProvider(`${plenumUrl.replace('http', 'ws')}/yjs`, name, doc, {
    params: { token },
    // Both people of this page are in one browser: without this they would not need the server.
    disableBc: true,
  })
  provider.on('status', ({ status }) => tell(status))
  return { doc, awareness: provider.awareness }
}
