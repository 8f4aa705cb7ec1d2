import * as Y from 'yjs'
import { align, type Pair } from './align.ts'
import { Formats } from './formats.ts'
import {
  areOfOneKind,
  copyOf,
  entryOf,
  equalUnits,
  idOf,
  keysOf,
  contentOf,
  type SharedType,
  typeIn,
  visible,
} from './units.ts'

/** A type, and its wanted state. */
type Task = [type: SharedType, wanted: SharedType]

/**
 * Restores a document to an earlier state by a new transaction: equal items stay, missing ones are written again, others
 * are deleted. Works for roots of any kind. Returns the update to append, or null if nothing differs.
 */
export function restore(doc: Y.Doc, version: Y.Doc): Uint8Array | null {
  let written: Uint8Array | null = null
  const keep = (update: Uint8Array) => void (written = update)
  doc.on('update', keep)
  doc.transact((transaction) => {
    const names = new Set([...doc.share.keys(), ...version.share.keys()])
    const tasks = [...names].map((name): Task => [doc.get(name), version.get(name)])
    // A loop, not a recursion: clients decide how deep types are nested.
    for (let task = tasks.pop(); task; task = tasks.pop()) {
      writeEntries(transaction, task, tasks)
      new ListWriter(transaction, task, tasks).write()
    }
  })
  doc.off('update', keep)
  return written
}

function writeEntries(transaction: Y.Transaction, [type, wanted]: Task, tasks: Task[]) {
  for (const key of keysOf(type, wanted)) {
    const [present, after] = [entryOf(type, key), entryOf(wanted, key)]
    if (!after) {
      present?.item.delete(transaction)
    } else {
      const isKept = present && equalUnits(present, after, 'start', areOfOneKind) === 1
      const left = contentOf(type).entries.get(key) ?? null
      const item = isKept ? present.item : insert(transaction, type, left, null, copyOf(after), key)
      addTask(tasks, item, after.item)
    }
  }
}

/** Walks along a list and turns it into the wanted one. */
class ListWriter {
  readonly #transaction: Y.Transaction
  readonly #list: SharedType
  readonly #wanted: SharedType
  readonly #tasks: Task[]
  readonly #formats = new Formats()
  #left: Y.Item | null = null
  /**
   * Values to write after `#left` as one item: Yjs would join values that are written one by one, in memory quadratic in
   * their number.
   */
  #values: unknown[] = []
  /** Whether a unit was written or removed since the last kept one. */
  #isChanged = false

  constructor(transaction: Y.Transaction, [list, wanted]: Task, tasks: Task[]) {
    this.#transaction = transaction
    this.#list = list
    this.#wanted = wanted
    this.#tasks = tasks
  }

  write(): void {
    const pairs = [...align(this.#list, this.#wanted)].toReversed()
    // Yjs caches positions in lists, and only its own methods update them.
    const { _searchMarker: remembered } = this.#list
    if (remembered) remembered.length = 0
    for (const item of visible(this.#wanted)) {
      if (!item.countable) this.#formats.want(item)
      while (pairs.at(-1)?.wanted.item === item) this.#writeUnits(pairs.pop()!)
    }
    this.#removeUpTo(null)
    this.#writeFormats()
  }

  #writeUnits({ wanted, kept }: Pair): void {
    const item = kept && this.#cutOut(kept)
    if (item) this.#removeUpTo(item)
    this.#writeFormats()
    this.#isChanged = item === null
    if (!item && wanted.item.content instanceof Y.ContentAny) {
      const { arr } = wanted.item.content
      for (let at = 0; at < wanted.length; at++) this.#values.push(arr[wanted.start + at])
      return
    }
    if (item) this.#left = item
    else this.#insert(copyOf(wanted))
    addTask(this.#tasks, this.#left!, wanted.item)
  }

  /** Makes the kept units one item of their own. Only this splits items, so `kept` may name positions from before a split. */
  #cutOut(kept: { item: Y.Item; start: number; length: number }): Y.Item {
    const { client, clock } = idOf(kept)
    const item = Y.getItemCleanStart(this.#transaction, Y.createID(client, clock))
    if (item.length > kept.length) {
      Y.getItemCleanStart(this.#transaction, Y.createID(client, clock + kept.length))
    }
    return item
  }

  #removeUpTo(end: Y.Item | null): void {
    this.#writeValues()
    const formats: Y.Item[] = []
    for (let item = this.#right; item !== null && item !== end; item = item.right) {
      this.#left = item
      if (item.deleted) continue
      if (item.countable) {
        item.delete(this.#transaction)
        this.#isChanged = true
      } else {
        formats.push(item)
      }
    }
    this.#formats.pass(formats, this.#isChanged, (item) => item.delete(this.#transaction))
  }

  #writeFormats(): void {
    for (const format of this.#formats.missing()) this.#insert(format)
  }

  #writeValues(): void {
    const values = this.#values
    this.#values = []
    if (values.length > 0) this.#insert(new Y.ContentAny(values))
  }

  #insert(content: Y.Item['content']): void {
    this.#writeValues()
    this.#left = insert(this.#transaction, this.#list, this.#left, this.#right, content, null)
  }

  get #right(): Y.Item | null {
    return this.#left === null ? contentOf(this.#list).first : this.#left.right
  }
}

function insert(
  transaction: Y.Transaction,
  type: SharedType,
  left: Y.Item | null,
  right: Y.Item | null,
  content: Y.Item['content'],
  key: string | null,
): Y.Item {
  const { clientID, store } = transaction.doc
  const id = Y.createID(clientID, Y.getState(store, clientID))
  const item = new Y.Item(id, left, left && left.lastId, right, right && right.id, type, key, content)
  item.integrate(transaction, 0)
  return item
}

/** Adds a task if the items contain a type, whose content is written later. */
function addTask(tasks: Task[], item: Y.Item, wanted: Y.Item): void {
  const [type, after] = [typeIn(item), typeIn(wanted)]
  if (type && after) tasks.push([type, after])
}
