import { setTimeout as pause } from 'node:timers/promises'
import type { Attack } from '../attack.ts'

const megabyte = 1024 * 1024 - 200

/** Values that are expensive to parse for their size. */
const values = [
  list(59_000, (i) => `{"k${i}":1}`),
  filled('{}', megabyte),
  filled(`${'['.repeat(50)}${']'.repeat(50)}`, megabyte),
  list(130_000, (i) => `"${i.toString(36)}"`),
  // The remaining values are within the limits of keys and values.
  list(9_900, (i) => `{"k${i}":1}`),
  list(49_000, (i) => `"${i.toString(36)}"`),
  filled('1', megabyte),
]
const contents = [
  ['text', `"${'é'.repeat(megabyte * 4)}"`],
  ['text', `"${'\\n'.repeat(megabyte * 4)}"`],
  ['array', filled('[]', megabyte * 8)],
] as const

/** As many tags as one call may add, which take longest to sanitize. */
const html = `{"data":{"organizationId":"org_1","documentId":"doc_1","createOrganization":true,"createDocument":true,"commentAnnotations":${list(
  5,
  () => `{"commentData":[{"from":{"userId":"ada"},"commentHtml":"${'<img src=x>'.repeat(1_000)}"}]}`,
)}}}`

/** Sends the largest and most expensive bodies, many at a time. */
export const costlyBodies: Attack = {
  name: 'bodies that take long to parse',
  withoutDatabase: true,
  async prepare({ url, attacker, size }) {
    const [durationMs, concurrentLargeBodies] = size === 'short' ? [1_000, 10] : [10_000, 30]
    const send = async (path: string, body: Buffer<ArrayBuffer>) => {
      const headers = { 'content-type': 'application/json', ...attacker.headers }
      const response = await fetch(`${url}${path}`, { method: 'POST', headers, body })
      await response.arrayBuffer()
    }
    const ordinary = values.map((value) =>
      Buffer.from(`{"data":{"organizations":[{"organizationId":"o1","x":${value}}]}}`),
    )
    const crdt = contents.map(([type, data]) =>
      Buffer.from(
        `{"data":{"organizationId":"org_1","documentId":"doc_1","editorId":"none","type":"${type}","data":${data}}}`,
      ),
    )
    return async () => {
      let isOver = false
      const repeat = async (path: string, bodies: readonly Buffer<ArrayBuffer>[]) => {
        for (let round = 0; !isOver; round++)
          await send(path, bodies[round % bodies.length] as Buffer<ArrayBuffer>)
      }
      const sending = [
        ...Array.from({ length: 4 }, () => repeat('/v2/organizations/add', ordinary)),
        repeat('/v2/commentannotations/add', [Buffer.from(html)]),
        ...Array.from({ length: concurrentLargeBodies }, () => repeat('/v2/crdt/update', crdt)),
      ]
      await pause(durationMs)
      isOver = true
      await Promise.all(sending)
    }
  },
}

function filled(one: string, bytes: number): string {
  return `[${`${one},`.repeat(Math.floor(bytes / (one.length + 1)) - 1)}0]`
}

function list(count: number, make: (index: number) => string): string {
  return `[${Array.from({ length: count }, (_, index) => make(index)).join()}]`
}
