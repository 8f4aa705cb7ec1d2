/** Each round finds what is unique between the matches of the round before. More rounds hardly find more. */
const maxRounds = 8

/** Up to this many pairs are compared to find the best ones; a longer list is paired by position. */
const maxComparedPairs = 40_000

interface Range {
  from: number
  to: number
}

interface Section {
  before: Range
  after: Range
  round: number
}

/**
 * Finds equal items that are in both lists in the same order. For each item of `after` it returns the index of its partner
 * in `before`, or -1. Equal items at both ends of a section are partners, and between these the items that are unique in
 * it, which divide it into smaller sections. The time grows with the length of the lists, whatever they contain.
 */
export function matchEqual<T>(before: ArrayLike<T>, after: ArrayLike<T>): number[] {
  const partners = Array.from<number>({ length: after.length }).fill(-1)
  const all = (list: ArrayLike<T>): Range => ({ from: 0, to: list.length })
  const sections: Section[] = [{ before: all(before), after: all(after), round: 0 }]
  for (let section = sections.pop(); section; section = sections.pop()) {
    const [b, a] = [section.before, section.after]
    const isEqual = (i: number, j: number) => before[i] === after[j]
    while (b.from < b.to && a.from < a.to && isEqual(b.from, a.from)) partners[a.from++] = b.from++
    while (b.from < b.to && a.from < a.to && isEqual(b.to - 1, a.to - 1)) partners[--a.to] = --b.to
    if (b.from === b.to || a.from === a.to || section.round === maxRounds) continue
    const anchors = inOrder(uniqueInBoth(before, b, after, a))
    if (anchors.length === 0) continue
    const round = section.round + 1
    for (const [i, j] of [...anchors, [b.to, a.to] as const]) {
      sections.push({ before: { from: b.from, to: i }, after: { from: a.from, to: j }, round })
      if (j < a.to) partners[j] = i
      ;[b.from, a.from] = [i + 1, j + 1]
    }
  }
  return partners
}

type IndexPair = readonly [before: number, after: number]

/** The items that occur once in each range, in the order of `after`. */
function uniqueInBoth<T>(before: ArrayLike<T>, b: Range, after: ArrayLike<T>, a: Range): IndexPair[] {
  const places = uniquePlaces(before, b)
  const pairs: IndexPair[] = []
  for (const [item, j] of uniquePlaces(after, a)) {
    const i = places.get(item) ?? -1
    if (i >= 0 && j >= 0) pairs.push([i, j])
  }
  return pairs
}

/** The place of each item. -1: it occurs more than once. */
function uniquePlaces<T>(list: ArrayLike<T>, { from, to }: Range): Map<T, number> {
  const places = new Map<T, number>()
  for (let i = from; i < to; i++) places.set(list[i]!, places.has(list[i]!) ? -1 : i)
  return places
}

/** The longest selection of these pairs in which both indexes increase. They are sorted by the second one. */
function inOrder(pairs: readonly IndexPair[]): IndexPair[] {
  const ends: number[] = []
  const previous: number[] = []
  for (const [index, [place]] of pairs.entries()) {
    let [low, high] = [0, ends.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (pairs[ends[middle]!]![0] < place) low = middle + 1
      else high = middle
    }
    previous[index] = low > 0 ? ends[low - 1]! : -1
    ends[low] = index
  }
  const longest: IndexPair[] = []
  for (let index = ends.at(-1) ?? -1; index >= 0; index = previous[index]!) longest.push(pairs[index]!)
  return longest.toReversed()
}

/**
 * Pairs items of two lists in order, so that the sum of their scores is as high as possible. Items with the score 0 are not
 * paired. For each item of `after` it returns its partner, or null.
 */
export function pairSimilar<B, A>(
  before: readonly B[],
  after: readonly A[],
  scoreOf: (before: B, after: A) => number,
): (B | null)[] {
  if (before.length * after.length > maxComparedPairs) {
    return after.map((item, index) => {
      const partner = before[index]
      return partner !== undefined && scoreOf(partner, item) > 0 ? partner : null
    })
  }
  const width = after.length + 1
  const scores = before.map((one) => after.map((other) => scoreOf(one, other)))
  // `best[i * width + j]` is the highest sum for the items from i and from j on.
  const best = new Float64Array((before.length + 1) * width)
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      const score = scores[i]![j]!
      const paired = score > 0 ? score + best[(i + 1) * width + j + 1]! : 0
      best[i * width + j] = Math.max(paired, best[(i + 1) * width + j]!, best[i * width + j + 1]!)
    }
  }
  const partners: (B | null)[] = after.map(() => null)
  for (let i = 0, j = 0; i < before.length && j < after.length;) {
    const score = scores[i]![j]!
    if (score > 0 && best[i * width + j] === score + best[(i + 1) * width + j + 1]!)
      partners[j++] = before[i++]!
    else if (best[i * width + j] === best[(i + 1) * width + j]) i++
    else j++
  }
  return partners
}
