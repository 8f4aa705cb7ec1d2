import { HocuspocusProvider } from '@hocuspocus/provider'
import type { Session, Shared } from './session.ts'

export function connectByHocuspocus(
  name: string,
  { plenumUrl, token }: Session,
  tell: (status: string) => void,
): Shared {
  const provider = new HocuspocusProvider({
    url: `${plenumUrl.replace('http', 'ws')}/hocuspocus`,
    name,
    token,
    onStatus: ({ status }) => tell(status),
    onUnsyncedChanges: ({ number }) => tell(number === 0 ? 'saved' : 'saving…'),
  })
  if (!provider.awareness) throw new Error('The provider has no awareness.')
  return { doc: provider.document, awareness: provider.awareness }
}
