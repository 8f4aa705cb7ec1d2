import { HocuspocusProvider } from '@hocuspocus/provider'
import type { Session, SharedDoc } from './session.ts'

export function connectWithHocuspocus(
  name: string,
  { plenumUrl, token }: Session,
  onStatus: (status: string) => void,
): SharedDoc {
  const provider = new HocuspocusProvider({
    url: `${plenumUrl.replace('http', 'ws')}/hocuspocus`,
    name,
    token,
    onStatus: ({ status }) => onStatus(status),
    onUnsyncedChanges: ({ number }) => onStatus(number === 0 ? 'saved' : 'saving…'),
  })
  if (!provider.awareness) throw new Error('The provider has no awareness.')
  return { doc: provider.document, awareness: provider.awareness }
}
