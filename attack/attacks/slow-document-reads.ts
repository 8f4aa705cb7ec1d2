import type { Attack } from '../attack.ts'
import { addSlowDocument, slowEditor } from '../slow-document.ts'

/** Reads several slow documents at once. Each would keep a thread busy for many seconds. */
export const slowDocumentReads: Attack = {
  name: 'REST reads of slow documents',
  withoutDatabase: true,
  async prepare(scene) {
    const editorIds = Array.from({ length: scene.size === 'short' ? 2 : 12 }, (_, i) => `slow_${i}`)
    for (const editorId of editorIds) await addSlowDocument(scene, { editorId })
    const { client } = scene.attacker
    return async () => {
      await Promise.allSettled(editorIds.map((editorId) => client.crdt.get({ ...slowEditor, editorId })))
    }
  },
}
