import { expect, test } from 'vitest'
import { useDocumentScene } from '../../../test/support/document-scene.ts'

const { openDocument } = useDocumentScene()

test.each(['', 'x'.repeat(257), 5])(
  '[0.6] an id that is not a string of 1 to 256 characters is refused before it is sent: %#',
  async (value) => {
    const id = value as string
    const { connection, document } = await openDocument()
    const accepted = 'must be a string with 1 to 256 characters.'
    expect(() => connection.document(id, 'doc_1')).toThrow(`organizationId ${accepted}`)
    expect(() => connection.document('org_1', id)).toThrow(`documentId ${accepted}`)
    expect(() => document.liveState(id)).toThrow(`liveStateDataId ${accepted}`)
    expect(() => document.editor(id)).toThrow(`editorId ${accepted}`)
    expect(() => document.editor('note', { contentKey: id })).toThrow(`contentKey ${accepted}`)
  },
)

test('[0.6] an emoji in an id counts as one character', async () => {
  const { document } = await openDocument()
  expect(document.liveState('😀'.repeat(256)).liveStateDataId).toHaveLength(512)
  expect(() => document.liveState('😀'.repeat(257))).toThrow('1 to 256 characters')
})
