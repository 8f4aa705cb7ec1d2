import { expect, test, vi } from 'vitest'
import { closeCodes } from '@plenum/protocol/realtime'
import { jwt } from '../../../test/support/fake-server.ts'
import { collectErrors, settle, useFakes } from '../../../test/support/fakes.ts'

const fakes = useFakes()
const { connect, untilNextSocket, warnings } = fakes

/** Opens a document with an editor on an authenticated connection. */
async function openEditor(options: Parameters<typeof connect>[0] = {}) {
  const connection = await connect(options)
  const document = connection.document('acme', 'roadmap')
  const editor = document.editor('note')
  fakes.server.socket.authenticate()
  return { connection, document, editor }
}

const noAnswerAfter = (attempts: number) =>
  `Plenum does not answer at ws://plenum.test/base/realtime after ${attempts} attempts: is the server running, and is the address right?`

test('[K11.2] the console shows an error without a listener once, however often it occurs', async () => {
  const { connection } = await openEditor()
  const end = () => fakes.server.socket.disconnect(closeCodes.badMessage, 'The message is malformed.')
  end()
  connection.reconnect()
  await settle()
  fakes.server.socket.authenticate()
  end()
  expect(warnings()).toEqual([
    '[plenum] The message is malformed. Use the same version of the client and the server.',
  ])
})

test.each(['connection', 'document', 'editor'] as const)(
  '[K11.2] the console does not show an error that the %s has a listener for',
  async (listening) => {
    const scene = await openEditor()
    collectErrors(scene[listening])
    fakes.server.socket.deliver({
      type: 'closed',
      ref: fakes.server.socket.sent('open')[0]?.ref ?? 0,
      code: closeCodes.permissionDenied,
      reason: 'The user may not open this document.',
    })
    fakes.server.socket.disconnect(closeCodes.badMessage, 'The message is malformed.')
    // The document had ended before, so it does not emit the error that ends the connection.
    expect(warnings()).toHaveLength(listening === 'connection' ? 0 : 1)
    expect(warnings().join()).not.toContain('may not open')
  },
)

test('[K11.2] the console names a refused origin and the call that allows it, even if there is a listener', async () => {
  vi.stubGlobal('location', new URL('http://localhost:5173/notes'))
  const { connection } = await openEditor({ token: jwt('secret') })
  const errors = collectErrors(connection)
  fakes.server.socket.disconnect(
    closeCodes.permissionDenied,
    'The origin is not among the allowed domains of the API key.',
  )
  const message =
    "The page's origin http://localhost:5173 is not among the allowed domains of the API key. Allow it with client.domains.add({ domains: ['localhost'] })."
  expect(errors).toMatchObject([{ status: 'PERMISSION_DENIED', message }])
  expect(warnings()).toEqual([`[plenum] ${message}`])
})

test('[K11.2] a production build shows nothing in the console', async () => {
  vi.stubEnv('NODE_ENV', 'production')
  await openEditor()
  fakes.server.socket.disconnect(closeCodes.permissionDenied)
  await connect({ token: 'no token' })
  vi.unstubAllEnvs()
  expect(warnings()).toEqual([])
})

test('[K11.2] the console shows errors where there is no process object', async () => {
  const { connection } = await openEditor()
  vi.stubGlobal('process', undefined)
  fakes.server.socket.disconnect(closeCodes.badMessage)
  vi.unstubAllGlobals()
  expect(warnings()).toEqual([`[plenum] ${connection.lastError?.message}`])
})

test('[K11.2] the console shows at most 50 different errors', async () => {
  const { connection } = await openEditor()
  for (let n = 0; n < 100; n++) {
    const { documentId } = connection.document('acme', `doc_${n}`)
    const ref = fakes.server.socket.sent('open').at(-1)?.ref ?? 0
    fakes.server.socket.deliver({
      type: 'closed',
      ref,
      code: closeCodes.gone,
      reason: `${documentId} is gone.`,
    })
  }
  expect(warnings()).toHaveLength(50)
})

test('[K11.2] [K11.4] the console warns after three attempts that the server does not answer, and again only after a connection has succeeded', async () => {
  const connection = await connect()
  const errors = collectErrors(connection)
  const fail = async (times: number) => {
    for (let time = 0; time < times; time++) {
      fakes.server.socket.disconnect()
      await untilNextSocket()
    }
  }
  await fail(2)
  expect(warnings()).toEqual([])
  expect(connection.lastError?.message).toBe(
    'Could not connect to ws://plenum.test/base/realtime (code 1006). The client tries again.',
  )
  await fail(1)
  expect(warnings()).toEqual([`[plenum] ${noAnswerAfter(3)}`])
  await fail(5)
  expect(warnings()).toHaveLength(1)
  expect(connection.lastError).toMatchObject({ status: 'UNAVAILABLE', message: noAnswerAfter(8) })
  fakes.server.socket.authenticate()
  await fail(3)
  expect(warnings()).toHaveLength(1)
  await fail(1)
  expect(warnings()).toEqual(Array(2).fill(`[plenum] ${noAnswerAfter(3)}`))
  expect(errors).toEqual([])
})

test('[K11.2] the console does not warn about a server that gives a reason when it closes the socket', async () => {
  const connection = await connect()
  for (let attempt = 0; attempt < 5; attempt++) {
    fakes.server.socket.disconnect(closeCodes.unavailable, 'The token could not be checked.')
    await untilNextSocket()
  }
  expect(warnings()).toEqual([])
  expect(connection.lastError?.message).toContain('The token could not be checked.')
})

test('[K11.2] the console warns about a server that accepts the socket and stays silent', async () => {
  await connect()
  for (let attempt = 0; attempt < 3; attempt++) {
    fakes.server.socket.accept()
    await untilNextSocket()
  }
  expect(warnings()).toEqual([`[plenum] ${noAnswerAfter(3)}`])
})
