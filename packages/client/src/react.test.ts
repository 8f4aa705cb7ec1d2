import { createElement } from 'react'
import { renderToString } from 'react-dom/server'
import { expect, test } from 'vitest'
import { settle, useFakes } from '../test/fake-time.ts'
import {
  PlenumProvider,
  useConnection,
  useConnectionStatus,
  useLiveDocument,
  useLiveEditor,
  useLiveState,
  useOthers,
  usePresence,
  useSelf,
} from './react.ts'

const fakes = useFakes()

function Room() {
  const status = useConnectionStatus()
  const document = useLiveDocument('org_1', 'doc_1')
  const [users] = usePresence('org_1', 'doc_1')
  const self = useSelf('org_1', 'doc_1')
  const others = useOthers('org_1', 'doc_1')
  const [player] = useLiveState('org_1', 'doc_1', 'player')
  const { editor, ...state } = useLiveEditor('org_1', 'doc_1', 'note')
  const hasConnection = useConnection() !== undefined
  return JSON.stringify({ status, document, users, self, others, player, editor, state, hasConnection })
}

test('[K10] on a server the hooks draw the first picture and open nothing', async () => {
  const connection = await fakes.connect()
  fakes.server.socket.welcome()
  const html = renderToString(createElement(PlenumProvider, { connection }, createElement(Room)))
  expect(JSON.parse(html.replaceAll('&quot;', '"'))).toEqual({
    status: 'connected',
    users: [],
    others: [],
    state: { status: 'connecting', saved: true, readOnly: false },
    hasConnection: true,
  })
  await settle()
  expect(fakes.server.socket.sent('open')).toEqual([])
})

test('[K10] a hook without a provider says what is missing', () => {
  expect(() => renderToString(createElement(Room))).toThrow('<PlenumProvider connection={…}>')
})
