/** The limits of one update. */
export interface Bounds {
  bytes: number
  structs: number
  /**
   * Yjs clients with structs, and separately clients that the document does not have. The delete set can name all clients
   * of the document.
   */
  clients: number
  /** Ranges of the delete set. */
  deletes: number
  /**
   * Clients that are only in the delete set, and whose deletes the index adds. Deletes of more clients are accepted, but
   * not added.
   */
  deleters: number
  /** Subdocuments. For each, Yjs creates a document with its promises. */
  subdocs: number
  /** How deep objects and arrays are nested in one value. */
  depth: number
  /** How deep shared types are nested: Yjs deletes them by recursion. */
  nesting: number
  /** The length of keys, and of names of root types and elements, in UTF-16 units. */
  nameLength: number
  /**
   * Values that Yjs copies while it joins neighbouring array items. They are quadratic in the number of items: 50,000 items
   * in 350 kB crash the process, out of memory.
   */
  copies: number
}

export const defaultBounds: Readonly<Bounds> = {
  bytes: 1_048_576,
  structs: 50_000,
  clients: 64,
  deletes: 200_000,
  deleters: 4_096,
  subdocs: 1_000,
  depth: 32,
  nesting: 64,
  nameLength: 4_096,
  copies: 2_000_000,
}

/** The bounds of stored updates. */
export const unbounded: Readonly<Bounds> = {
  bytes: Infinity,
  structs: Infinity,
  clients: Infinity,
  deletes: Infinity,
  deleters: Infinity,
  subdocs: Infinity,
  depth: Infinity,
  nesting: Infinity,
  nameLength: Infinity,
  copies: Infinity,
}
