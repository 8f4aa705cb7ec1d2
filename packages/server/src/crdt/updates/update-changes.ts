import { addRun, type Runs } from './item-places.ts'
import { addRange, unite, type Ranges } from './ranges.ts'
import { contentRefs } from './update-contents.ts'
import type { Client } from './update-order.ts'

/** What an accepted update adds to one Yjs client. */
export interface Change {
  client: number
  /** The next clock before the update. */
  from: number
  /** The next clock after the update. */
  to: number
  /** The places of the new structs. */
  places: Runs
  /** The deleted ranges, including new structs that arrive deleted. Some ranges may be known as deleted. */
  deletes: Ranges
}

export function changeOf({ id, known, end, structs, deletes = [] }: Client): Change {
  const places: Runs = []
  const bornDeleted: Ranges = []
  for (const struct of structs) {
    addRun(places, struct.start, struct.place)
    if (struct.ref === contentRefs.gc || struct.ref === contentRefs.deleted) {
      addRange(bornDeleted, struct.start, struct.end)
    }
  }
  return {
    client: id,
    from: known,
    to: end,
    places,
    deletes: bornDeleted.length === 0 ? deletes : unite(deletes, bornDeleted),
  }
}
