import * as Y from 'yjs'
import type { Options } from '../../../src/crdt/updates/validate-update.ts'

/** The answers of a Yjs document to the questions of the update validation. */
export function knownDoc(doc: Y.Doc): Required<Pick<Options, 'placeOf' | 'isDeleted'>> {
  return {
    placeOf(client, clock) {
      const structs = doc.store.clients.get(client)
      const item = structs?.[Y.findIndexSS(structs, clock)]
      if (!(item instanceof Y.Item)) return undefined
      let depth = 1
      for (let type = item.parent as Y.AbstractType<unknown>; type.parent !== null; type = type.parent)
        depth++
      return { depth, isEntry: item.parentSub !== null }
    },
    isDeleted(client, clock, length) {
      const structs = doc.store.clients.get(client)
      if (structs === undefined) return false
      for (let i = Y.findIndexSS(structs, clock); i < structs.length; i++) {
        const struct = structs[i] as Y.Item | Y.GC
        if (struct.id.clock >= clock + length) break
        if (!struct.deleted) return false
      }
      return true
    },
  }
}
