import { isDeepStrictEqual } from 'node:util'
import * as Y from 'yjs'

type Values = Map<string, unknown>

/** The formats at a position of a list: those before the restore, those present now, and the wanted ones. */
export class Formats {
  readonly #before: Values = new Map()
  readonly #present: Values = new Map()
  readonly #wanted: Values = new Map()
  /** Keys whose present value is not the wanted one. */
  readonly #differing = new Set<string>()

  /** Adds a format of the wanted list. */
  want(item: Y.Item): void {
    const { key, value } = formatIn(item)
    set(this.#wanted, key, value)
    this.#compare(key)
  }

  /**
   * Moves past the formats between two units of the list. All stay if they still produce the wanted formats and no unit was
   * removed or inserted. Otherwise only the needed ones stay: every open editor would remove the others itself.
   */
  pass(items: readonly Y.Item[], isChanged: boolean, remove: (item: Y.Item) => void): void {
    const last = new Map(items.map((item) => [formatIn(item).key, item]))
    const stay =
      !isChanged &&
      [...this.#differing].every((key) => last.has(key)) &&
      [...last].every(([key, item]) => this.#isWanted(item) && isSame(this.#before, this.#present, key))
    for (const item of items) {
      const { key, value } = formatIn(item)
      const isNeeded = last.get(key) === item && this.#isWanted(item) && this.#differing.has(key)
      if (stay || isNeeded) this.#put(key, value)
      else remove(item)
      set(this.#before, key, value)
    }
  }

  /** Returns the formats to write before the next unit, and marks them as present. */
  *missing(): Generator<Y.ContentFormat> {
    for (const key of this.#differing) {
      const value = valueOf(this.#wanted, key)
      this.#put(key, value)
      yield new Y.ContentFormat(key, value as object)
    }
  }

  #put(key: string, value: unknown): void {
    set(this.#present, key, value)
    this.#compare(key)
  }

  #compare(key: string): void {
    if (isSame(this.#present, this.#wanted, key)) this.#differing.delete(key)
    else this.#differing.add(key)
  }

  #isWanted(item: Y.Item): boolean {
    const { key, value } = formatIn(item)
    return isDeepStrictEqual(value, valueOf(this.#wanted, key))
  }
}

const formatIn = ({ content }: Y.Item): { key: string; value: unknown } => content as Y.ContentFormat

/** Null means that the format ends. */
const valueOf = (values: Values, key: string): unknown => values.get(key) ?? null

const set = (values: Values, key: string, value: unknown) =>
  value === null ? values.delete(key) : values.set(key, value)

const isSame = (one: Values, other: Values, key: string) =>
  isDeepStrictEqual(valueOf(one, key), valueOf(other, key))
