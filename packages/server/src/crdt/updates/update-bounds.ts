export interface Bounds {
  bytes: number
  structs: number
  /** Clients with structs. The delete set of an answer to a state vector names all that ever deleted. */
  clients: number
  /** Ranges of the delete set. */
  deletes: number
  /** Clients without structs whose deletes become known. Deletes of more clients are accepted, and not remembered. */
  deleters: number
  /** Each costs Yjs a document with its promises. */
  subdocs: number
  /** Objects and arrays inside each other in one value. */
  depth: number
  /** Shared types inside each other: Yjs deletes them by recursion. */
  nesting: number
  /** Names of root types and elements, and keys, in UTF-16 units. */
  nameLength: number
  /**
   * Values that Yjs copies while it joins neighbouring array items, quadratic in their number: 50,000 items in 350 kB
   * end the process for want of memory.
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

/** For what is ours. */
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
