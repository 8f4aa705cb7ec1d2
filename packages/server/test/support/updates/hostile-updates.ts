import {
  any,
  binary,
  deleted,
  embed,
  format,
  json,
  subdoc,
  text,
  type,
  update,
  type Content,
  type StructScene,
} from './scenes.ts'
import type { Random } from '../random/random.ts'

const clients = [3, 5, 9]
const values = [1, 'x', null, undefined, { a: [1] }, [1, 2], true, 1.5, new Uint8Array(2), 10n]
const texts = [
  ['a', 'é'],
  ['ab', '😀'],
  ['abc', 'x😀'],
]
const times = <T>(count: number, make: () => T) => Array.from({ length: count }, make)

/** Well-formed updates with neighbours, parents, keys and deletes that no editor would produce; some are invalid. */
export function hostileUpdate(random: Random, known: ReadonlyMap<number, number>): Uint8Array {
  const pick = random.of
  const ends = new Map(known)
  // The lengths of all structs are chosen first, so that a struct can refer to later sections.
  const sections = clients
    .filter(() => random(3) > 0)
    .sort((a, b) => (random(20) ? b - a : random(3) - 1))
    .map((client) => {
      const from = known.get(client) ?? 0
      const clock = random(6) === 0 ? random(from + 2) : from
      const lengths = times(1 + random(4), () => 1 + random(3))
      ends.set(client, Math.max(from, clock + lengths.reduce((sum, length) => sum + length, 0)))
      return { client, clock, lengths }
    })

  function contentOf(length: number): Content {
    if (length > 1 || random(2) === 0) {
      const contents = [
        () => deleted(length),
        () => json(...times(length, () => pick(['1', '{"a":1}', 'undefined', '[]']))),
        () => text(pick(texts[length - 1] as string[])),
        () => any(...times(length, () => pick(values))),
      ]
      return pick(contents)()
    }
    const kind = random(7)
    const contents = [
      binary(1, 2),
      embed('{"i":1}'),
      format(pick(['b', 'i']), pick(['true', 'null'])),
      type(kind, kind === 3 || kind === 5 ? 'p' : undefined),
      type(random(3)),
      subdoc('g', pick([{}, { gc: false }, { meta: 1, autoLoad: true }])),
    ]
    return pick(contents)
  }

  function idNear(own: number, clock: number): [number, number] {
    const client = random(3) ? own : pick(clients)
    const limit = client === own && random(20) ? clock : (ends.get(client) ?? 0)
    const back = random(3) ? limit - 1 - random(3) : random(limit + (random(30) ? 0 : 2))
    return [client, Math.max(0, back)]
  }

  function structOf(client: number, clock: number, length: number): StructScene {
    if (random(12) === 0) return { gc: length }
    const mayRefer = clock > 0 || random(3) === 0
    return {
      ...(mayRefer && random(2) && { origin: idNear(client, clock) }),
      ...(mayRefer && random(3) === 0 && { right: idNear(client, clock) }),
      parent: mayRefer && random(2) ? idNear(client, clock) : pick(['r', 't', 'x']),
      ...(random(2) && { key: pick(['k', 'l']) }),
      content: contentOf(length),
    }
  }

  function rangesOf(client: number): [number, number][] {
    const end = (ends.get(client) ?? 0) + (random(50) === 0 ? 1 : 0)
    const ranges: [number, number][] = []
    for (let at = random(4); ranges.length < 3; at += random(4)) {
      const length = 1 + random(3)
      if (at + length > end) break
      ranges.push([at, length])
      at += length
    }
    return ranges
  }

  return update({
    structs: sections.map(({ client, clock: start, lengths }) => {
      let clock = start
      const structs = lengths.map((length) => {
        const struct = structOf(client, clock, length)
        clock += length
        return struct
      })
      return { client, clock: start, structs }
    }),
    deletes: clients.filter(() => random(2)).map((client) => ({ client, ranges: rangesOf(client) })),
  })
}
