/** The limits of one update. */
export interface Bounds {
  bytes: number
  structs: number
  /** Clients with structs. The delete set is not limited by it: it can name all clients of the document. */
  clients: number
  /** Ranges of the delete set. */
  deletes: number
  /** Clients without structs whose deletes are added to the index. Deletes of more clients are accepted, but not added. */
  deleters: number
  /** For each, Yjs creates a document with its promises. */
  subdocs: number
  /** Nested objects and arrays in one value. */
  depth: number
  /** Nested shared types: Yjs deletes them by recursion. */
  nesting: number
  /** Names of root types and elements, and keys, in UTF-16 units. */
  nameLength: number
  /**
   * Values that Yjs copies while it joins neighbouring array items, quadratic in their number: 50,000 items in 350 kB
   * crash the process, out of memory.
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

/** For stored updates. */
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
