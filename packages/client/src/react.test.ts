import { createElement } from 'react'
import { renderToString } from 'react-dom/server'
import { expect, test, vi } from 'vitest'
import { settle, useFakes } from '../test/support/fakes.ts'
import { createClient } from './index.ts'
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
  useVersions,
} from './react.ts'

const fakes = useFakes()

function Room() {
  const { status } = useConnectionStatus()
  const document = useLiveDocument('org_1', 'doc_1')
  const [users] = usePresence('org_1', 'doc_1')
  const self = useSelf('org_1', 'doc_1')
  const others = useOthers('org_1', 'doc_1')
  const [player] = useLiveState('org_1', 'doc_1', 'player')
  const { editor, ...state } = useLiveEditor('org_1', 'doc_1', 'note')
  const list = useVersions('org_1', 'doc_1', 'note')
  const hasConnection = useConnection() !== undefined
  return JSON.stringify({ status, document, users, self, others, player, editor, state, list, hasConnection })
}

test('[K10.1] on a server the hooks return their initial values, open nothing and need no WebSocket class', async () => {
  vi.stubGlobal('WebSocket', undefined)
  const connection = createClient({ url: 'http://plenum.test' }).connect({ token: 'never sent' })
  fakes.closeAfterTest(connection)
  const html = renderToString(createElement(PlenumProvider, { connection }, createElement(Room)))
  expect(JSON.parse(html.replaceAll('&quot;', '"'))).toEqual({
    status: 'connecting',
    users: [],
    others: [],
    state: { status: 'connecting', saved: true, readOnly: false },
    list: { versions: [], isLoading: true },
    hasConnection: true,
  })
  await settle()
  expect(vi.getTimerCount()).toBe(0)
})

test('[K10.1] on a server the hooks render their initial values, even if the connection is open and has the document already', async () => {
  const connection = await fakes.connect()
  fakes.server.socket.authenticate()
  const render = () => renderToString(createElement(PlenumProvider, { connection }, createElement(Room)))
  const html = render()
  connection.document('org_1', 'doc_1')
  expect(connection.status).toBe('connected')
  expect(render()).toBe(html)
  expect(html).toContain('connecting')
})

test('[K10] a hook without a provider throws an error that names the provider', () => {
  expect(() => renderToString(createElement(Room))).toThrow('<PlenumProvider connection={…}>')
})
