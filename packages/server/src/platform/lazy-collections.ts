/**
 * Maps and sets without memory of their own until they get their first entry. An empty `Map` or `Set` takes some 180 bytes,
 * and each open document has twenty that mostly stay empty.
 */
export class LazyMap<Key, Value> {
  #map: Map<Key, Value> | undefined

  get size(): number {
    return this.#map?.size ?? 0
  }

  get(key: Key): Value | undefined {
    return this.#map?.get(key)
  }

  has(key: Key): boolean {
    return this.#map?.has(key) ?? false
  }

  set(key: Key, value: Value): void {
    this.#map ??= new Map()
    this.#map.set(key, value)
  }

  delete(key: Key): boolean {
    return this.#map?.delete(key) ?? false
  }

  clear(): void {
    this.#map = undefined
  }

  keys(): Iterable<Key> {
    return this.#map?.keys() ?? []
  }

  values(): Iterable<Value> {
    return this.#map?.values() ?? []
  }

  [Symbol.iterator](): Iterator<[Key, Value]> {
    return (this.#map ?? [])[Symbol.iterator]()
  }
}

export class LazySet<Value> {
  #set: Set<Value> | undefined

  get size(): number {
    return this.#set?.size ?? 0
  }

  has(value: Value): boolean {
    return this.#set?.has(value) ?? false
  }

  add(value: Value): void {
    this.#set ??= new Set()
    this.#set.add(value)
  }

  delete(value: Value): boolean {
    return this.#set?.delete(value) ?? false
  }

  clear(): void {
    this.#set = undefined
  }

  [Symbol.iterator](): Iterator<Value> {
    return (this.#set ?? [])[Symbol.iterator]()
  }
}
