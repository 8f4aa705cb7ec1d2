/** The numbers of some pairs. A `Float64Array` is a view of a larger array and is never changed. */
type Chunk = number[] | Float64Array

const maxChunkNumbers = 256
/** New chunks are half full: the first change would split a full one, and a split copies the list of chunks. */
const newChunkNumbers = maxChunkNumbers / 2

/**
 * Pairs of numbers, ordered by the first number of each pair. Finding one takes time logarithmic in the number of pairs;
 * a change copies the chunks that it touches.
 */
export class SortedPairs {
  /** No chunk is empty. */
  #chunks: Chunk[] = []
  /** The chunk of the last search: searches often come in order. */
  #near = 0

  /** Keeps views of the numbers instead of copying millions of them: the caller must not change them. */
  static over(numbers: Float64Array): SortedPairs {
    const pairs = new SortedPairs()
    if (numbers.length <= newChunkNumbers) {
      if (numbers.length > 0) pairs.#chunks.push(copyOf(numbers))
      return pairs
    }
    for (let at = 0; at < numbers.length; at += newChunkNumbers) {
      pairs.#chunks.push(numbers.subarray(at, at + newChunkNumbers))
    }
    return pairs
  }

  /** How many numbers there are, two for each pair. */
  get length(): number {
    let length = 0
    for (const chunk of this.#chunks) length += chunk.length
    return length
  }

  copyTo(target: Float64Array, offset: number): void {
    let at = offset
    for (const chunk of this.#chunks) {
      target.set(chunk, at)
      at += chunk.length
    }
  }

  /** The second number of the last pair. */
  get lastSecond(): number | undefined {
    return this.#chunks.at(-1)?.at(-1)
  }

  /** The second number of the last pair whose first number is at most the limit; undefined if there is none. */
  secondAt(limit: number): number | undefined {
    const chunks = this.#chunks
    const near = chunks[this.#near]
    const next = chunks[this.#near + 1]
    if (near === undefined) return undefined
    const isNear = startOf(near) <= limit && (next === undefined || limit < startOf(next))
    if (!isNear) this.#near = this.#findChunk(limit)
    return secondIn(chunks[this.#near] as Chunk, limit)
  }

  /** Adds a pair after all others. */
  append(first: number, second: number): void {
    const last = this.#chunks.at(-1)
    if (last === undefined || last.length >= maxChunkNumbers) this.#chunks.push([first, second])
    else if (Array.isArray(last)) last.push(first, second)
    else this.#chunks[this.#chunks.length - 1] = [...copyOf(last), first, second]
  }

  /**
   * Merges with other pairs, given in order. `unite` merges one chunk with the pairs that begin before the next chunk.
   * If the last pair of the result reaches into later chunks, the chunks that it covers are dropped, and it is merged with
   * the chunk in which it ends. Stops after `maxChunks` chunks, plus one for such a pair, and leaves the remaining pairs out.
   */
  merge(others: readonly number[], unite: Unite, maxChunks: number): void {
    const chunks = this.#chunks.length > 0 ? this.#chunks : [[]]
    const from = this.#findChunk(others[0] as number)
    const merged: Chunk[] = []
    let carried: number[] = []
    let index = from
    for (let at = 0, touched = 0; index < chunks.length; index++) {
      const isDone = at === others.length || touched >= maxChunks
      if (isDone && carried.length === 0) break
      const chunk = chunks[index] as Chunk
      const next = chunks[index + 1]
      const limit = next === undefined ? Infinity : startOf(next)
      const begin = at
      while (!isDone && at < others.length && (others[at] as number) < limit) at += 2
      if (at === begin && carried.length === 0) {
        merged.push(chunk)
        continue
      }
      touched++
      const united = unite(chunk, [...carried, ...others.slice(begin, at)])
      const end = united.at(-1) as number
      carried = end >= limit ? united.splice(-2) : []
      pushChunks(merged, united)
      if (end >= limit) index = this.#findChunk(end) - 1
    }
    this.#replaceChunks(from, index, merged)
  }

  #replaceChunks(from: number, to: number, chunks: readonly Chunk[]): void {
    if (chunks.length === to - from) {
      for (let i = 0; i < chunks.length; i++) this.#chunks[from + i] = chunks[i] as Chunk
    } else {
      this.#chunks = [...this.#chunks.slice(0, from), ...chunks, ...this.#chunks.slice(to)]
      this.#near = 0
    }
  }

  /** The index of the last chunk that begins with at most this number, or of the first chunk if there is none. */
  #findChunk(limit: number): number {
    const chunks = this.#chunks
    let low = 0
    let high = chunks.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (startOf(chunks[middle] as Chunk) <= limit) low = middle + 1
      else high = middle
    }
    return Math.max(0, low - 1)
  }
}

export type Unite = (a: ArrayLike<number>, b: ArrayLike<number>) => number[]

const startOf = (chunk: Chunk) => chunk[0] as number

function secondIn(chunk: Chunk, limit: number): number | undefined {
  const last = chunk.length - 2
  if ((chunk[last] as number) <= limit) return chunk[last + 1]
  let low = 0
  let high = last / 2
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((chunk[middle * 2] as number) <= limit) low = middle + 1
    else high = middle
  }
  return low === 0 ? undefined : chunk[low * 2 - 1]
}

function pushChunks(chunks: Chunk[], numbers: number[]): void {
  if (numbers.length <= maxChunkNumbers) {
    if (numbers.length > 0) chunks.push(numbers)
    return
  }
  for (let at = 0; at < numbers.length; at += newChunkNumbers) {
    chunks.push(numbers.slice(at, at + newChunkNumbers))
  }
}

function copyOf(numbers: Float64Array): number[] {
  const copy: number[] = []
  for (let i = 0; i < numbers.length; i++) copy.push(numbers[i] as number)
  return copy
}
