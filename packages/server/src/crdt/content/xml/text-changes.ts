import type * as Y from 'yjs'
import { textDifference } from '../values.ts'
import { matchEqual } from './alignment.ts'
import type { Mark, StoredPiece, StoredText } from './stored-units.ts'
import { markId, type PrintedMark, type Vocabulary } from './vocabulary.ts'
import type { WantedPiece } from './wanted-units.ts'

/** One operation of a delta, as `applyDelta` of Yjs takes it. */
type Change =
  | { retain: number; attributes?: Record<string, unknown> }
  | { insert: string; attributes: Record<string, unknown> }
  | { delete: number }

/** Turns a stored text into the wanted one. Characters that are in both stay, and embedded objects stay where they are. */
export function changeText(stored: StoredText, wanted: readonly WantedPiece[], vocabulary: Vocabulary): void {
  const writer = new TextWriter(stored, vocabulary)
  const [before, after] = [textOf(stored.pieces), textOf(wanted)]
  // Reversed, because the last item of an array is removed fastest.
  const rest = wanted.toReversed()
  let end = 0
  for (const { start, removed, added } of changedStretches(before, after)) {
    for (const piece of take(rest, start - end)) writer.keep(piece)
    for (const piece of take(rest, added)) writer.insert(piece, removed)
    writer.remove(removed)
    end = start + removed
  }
  for (const piece of take(rest, before.length - end)) writer.keep(piece)
  writer.write()
}

const textOf = (pieces: readonly Pick<StoredPiece, 'characters'>[]) =>
  pieces.map(({ characters }) => characters ?? '').join('')

/** The next characters, as pieces. Removes them from the list, which is reversed. */
function* take(reversed: WantedPiece[], length: number): Generator<WantedPiece> {
  for (let left = length; left > 0;) {
    const { characters, marks } = reversed.pop()!
    if (characters.length > left) reversed.push({ characters: characters.slice(left), marks })
    yield { characters: characters.slice(0, left), marks }
    left -= Math.min(left, characters.length)
  }
}

interface Stretch {
  start: number
  removed: number
  added: number
}

/** Words, spaces and single other characters. None of them cuts a surrogate pair. */
const tokens = /[\p{L}\p{M}\p{N}_]+|\s+|[^]/gu

/** Of longer texts, only equal ends stay: the tokens take much memory. */
const maxComparedCharacters = 1_000_000

/** What differs, as stretches of the first text that become stretches of the second one: words, without equal ends. */
function* changedStretches(before: string, after: string): Generator<Stretch> {
  const whole = textDifference(before, after)
  if (whole.removed === 0 || whole.added === 0 || whole.removed + whole.added > maxComparedCharacters) {
    yield whole
    return
  }
  let start = whole.start
  const old = before.slice(start, start + whole.removed).match(tokens) ?? []
  const wanted = after.slice(start, start + whole.added).match(tokens) ?? []
  const partners = matchEqual(old, wanted)
  let i = 0
  for (let j = 0; j <= wanted.length; j++) {
    let [removed, added] = ['', '']
    while (j < wanted.length && partners[j] === -1) added += wanted[j++]!
    const partner = j < wanted.length ? partners[j]! : old.length
    while (i < partner) removed += old[i++]!
    if (removed !== '' || added !== '') {
      const inner = textDifference(removed, added)
      yield { ...inner, start: start + inner.start }
    }
    start += removed.length + (old[i++]?.length ?? 0)
  }
}

/** How many pieces are searched for a format that a new text can have. */
const maxNearPieces = 32

const lengthOf = ({ characters }: StoredPiece) => characters?.length ?? 0

/** Walks along the pieces of a stored text, and collects what changes in each of its Yjs texts. */
class TextWriter {
  readonly #pieces: readonly StoredPiece[]
  readonly #vocabulary: Vocabulary
  readonly #changes = new Map<Y.Text, Change[]>()
  /** The Yjs text in which the walk is. */
  #text: Y.Text
  #index = 0
  /** How many characters of the current piece are passed. */
  #offset = 0

  constructor({ texts, pieces }: StoredText, vocabulary: Vocabulary) {
    this.#pieces = pieces
    this.#vocabulary = vocabulary
    this.#text = texts[0]!
  }

  keep({ characters, marks }: WantedPiece): void {
    this.#pass(characters.length, (length, piece) => ({
      retain: length,
      attributes: this.#changedFormats(piece.marks, marks),
    }))
  }

  remove(length: number): void {
    this.#pass(length, (length) => ({ delete: length }))
  }

  /** Inserts before the next characters, of which `replaced` will be removed. */
  insert({ characters, marks }: WantedPiece, replaced: number): void {
    const near = marks.length > 0 ? this.#marksNear(replaced) : []
    const attributes: Record<string, unknown> = {}
    for (const mark of marks) {
      const { key, value } = this.#vocabulary.resolveMark(mark, near)
      attributes[key] = value
    }
    this.#add({ insert: characters, attributes })
  }

  write(): void {
    for (const [text, changes] of this.#changes) {
      while (isNothing(changes.at(-1))) changes.pop()
      if (changes.length > 0) text.applyDelta(changes)
    }
  }

  #pass(length: number, changeOf: (length: number, piece: StoredPiece) => Change): void {
    for (let left = length; left > 0;) {
      const piece = this.#pieces[this.#index]!
      this.#text = piece.text
      const count = Math.min(left, lengthOf(piece) - this.#offset)
      this.#add(piece.characters === null ? { retain: 1 } : changeOf(count, piece))
      left -= count
      this.#offset += count
      if (this.#offset === lengthOf(piece)) [this.#index, this.#offset] = [this.#index + 1, 0]
    }
  }

  #add(change: Change): void {
    const changes = this.#changes.get(this.#text)
    if (changes) changes.push(change)
    else this.#changes.set(this.#text, [change])
  }

  /** The formats of the next characters, which are replaced, and of their neighbours. */
  #marksNear(replaced: number): Mark[] {
    const start = this.#index
    let end = start
    for (let left = this.#offset + replaced; left > 0 && end < start + maxNearPieces; end++) {
      left -= lengthOf(this.#pieces[end]!)
    }
    const near = [...this.#pieces.slice(start, end), this.#pieces[start - 1], this.#pieces[end]]
    return near.flatMap((piece) => piece?.marks ?? [])
  }

  #changedFormats(stored: readonly Mark[], wanted: readonly PrintedMark[]): Record<string, unknown> {
    const [present, after] = [new Set(stored.map(markId)), new Set(wanted.map(markId))]
    const changed: Record<string, unknown> = {}
    for (const mark of stored) if (!after.has(markId(mark))) changed[mark.key] = null
    for (const mark of wanted) {
      if (present.has(markId(mark))) continue
      const { key, value } = this.#vocabulary.resolveMark(mark, stored)
      changed[key] = value
    }
    return changed
  }
}

const isNothing = (change: Change | undefined) =>
  change !== undefined && 'retain' in change && Object.keys(change.attributes ?? {}).length === 0
