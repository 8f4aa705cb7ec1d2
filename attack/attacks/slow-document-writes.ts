import type { Attack } from '../attack.ts'
import { addSlowDocument, slowEditor } from '../slow-document.ts'

/** Sends the same write many times at once, to a document that Yjs takes many seconds to build. */
export const slowDocumentWrites: Attack = {
  name: 'REST writes to a slow document',
  async prepare(scene) {
    await addSlowDocument(scene)
    const { client } = scene.attacker
    const callCount = scene.size === 'short' ? 4 : 30
    return async () => {
      const write = () => client.crdt.update({ ...slowEditor, type: 'text', data: 'new' })
      await Promise.allSettled(Array.from({ length: callCount }, write))
    }
  },
}
