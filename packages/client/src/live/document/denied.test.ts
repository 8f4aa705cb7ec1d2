import { expect, test, vi } from 'vitest'
import { closeCodes } from '@plenum/protocol/realtime'
import { at, state, useDocumentScene, valuesOf } from '../../../test/support/document-scene.ts'
import { collectErrors } from '../../../test/support/fakes.ts'

const { fakes, acceptDocument, openDocument, reconnect } = useDocumentScene()

/** The server answers the newest request to open the document. */
function close(code: number, reason: string): void {
  const ref = fakes.server.socket.sent('open').at(-1)?.ref ?? 0
  fakes.server.socket.deliver({ type: 'closed', ref, code, reason })
}
const deny = () => close(closeCodes.permissionDenied, 'No grant.')
const openings = () => fakes.server.socket.sent('open').length
/** Answers the pings, so that the connection stays open. */
async function advance(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 1000) {
    fakes.server.socket.deliver({ type: 'pong' })
    await vi.advanceTimersByTimeAsync(Math.min(1000, left))
  }
}

async function deniedDocument() {
  const { connection, document } = await openDocument()
  acceptDocument(5, [state('a', { n: 1 })])
  const editor = document.editor('note')
  const errors = [connection, document].map(collectErrors)
  const statuses: string[] = []
  document.subscribe(({ status }) => statuses.push(status))
  deny()
  return { connection, document, editor, errors, statuses }
}

test('[K3.3] a denied document asks again after random delays of up to a minute, and reports its error once', async () => {
  const { document, editor, errors, statuses } = await deniedDocument()
  const reason = { status: 'PERMISSION_DENIED' }
  for (const it of [document, editor]) expect(it).toMatchObject({ status: 'denied', reason })
  const delays: number[] = []
  for (let attempt = 0; attempt < 9; attempt++) {
    const [count, startedAt] = [openings(), Date.now()]
    while (openings() === count && Date.now() - startedAt < 60_000) await advance(500)
    delays.push(Date.now() - startedAt)
    expect(document.status).toBe('denied')
    deny()
  }
  expect(delays).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000])
  expect(errors.map(({ length }) => length)).toEqual([1, 1])
  expect(statuses).toEqual(['denied'])

  await advance(30_000)
  expect(fakes.server.socket.sent('open').at(-1)).toMatchObject({ since: at(5) })
  acceptDocument(7, [state('b', { n: 2 })], { reset: false })
  expect(document).toMatchObject({ status: 'connected', reason: undefined, ended: undefined })
  expect(valuesOf(document, 'a', 'b')).toEqual([{ n: 1 }, { n: 2 }])
  expect(fakes.server.socket.sent('openEditor')).toHaveLength(2)
})

test('[K3.3] a denied document asks again at once when the page is shown, the connection is back, or the application retries', async () => {
  const page = Object.assign(new EventTarget(), { hidden: false })
  vi.stubGlobal('document', page)
  vi.stubGlobal('addEventListener', () => {})
  vi.stubGlobal('removeEventListener', () => {})
  const { document } = await deniedDocument()
  expect(openings()).toBe(1)
  page.dispatchEvent(new Event('visibilitychange'))
  expect(openings()).toBe(2)
  // It does not ask twice at the same time.
  document.retry()
  page.dispatchEvent(new Event('visibilitychange'))
  expect(openings()).toBe(2)
  deny()
  document.retry()
  expect(openings()).toBe(3)
  await reconnect()
  expect(openings()).toBe(1)
  expect(document.status).toBe('denied')
  acceptDocument(5)
  expect(document.status).toBe('connected')
})

test('[K3.3] a document that is denied and then deleted, and one that the application closes, is not asked for again', async () => {
  const { document, errors } = await deniedDocument()
  await advance(500)
  close(closeCodes.gone, 'The document was deleted.')
  expect(document).toMatchObject({ status: 'failed', ended: { code: closeCodes.gone } })
  expect(errors.map(({ length }) => length)).toEqual([2, 2])
  const count = openings()
  await advance(120_000)
  expect(openings()).toBe(count)
  document.retry()
  expect(document.status).toBe('reconnecting')
  deny()
  document.close()
  await advance(120_000)
  expect(openings()).toBe(count + 1)
})

test('[K3.3] a denied document that cannot be read stays denied, and is asked for again', async () => {
  const { document } = await deniedDocument()
  await advance(500)
  close(closeCodes.unavailable, 'Access could not be checked.')
  expect(document).toMatchObject({ status: 'denied', ended: { code: closeCodes.permissionDenied } })
  await advance(1000)
  acceptDocument(5)
  expect(document.status).toBe('connected')
})

test('[K21] a document that the server closes for a time says why', async () => {
  const { document } = await openDocument()
  acceptDocument(5)
  const editor = document.editor('note')
  close(closeCodes.unavailable, 'The document cannot be read.')
  const reason = { message: 'org_1/doc_1: The document cannot be read.' }
  expect(document).toMatchObject({ status: 'reconnecting', reason })
  expect(editor).toMatchObject({ status: 'connecting', reason })
  await advance(100)
  acceptDocument(5)
  for (const it of [document, editor]) expect(it.reason).toBeUndefined()
})
