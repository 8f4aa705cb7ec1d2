import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { expectShortIterations, type LoopWork } from '../support/measures/loop-work.ts'
import * as given from '../support/given.ts'
import { useServer } from '../support/harness.ts'
import { openHttp } from '../support/clients/raw-http.ts'

const ordinaryBytes = 1024 * 1024 - 200
const maxCrdtBytes = 10 * 1024 * 1024 - 200
/** Parsed on the event loop, it would exceed the limit for JSON by far. */
const crdtBytes = 2 * 1024 * 1024

const filled = (item: string, bytes: number) =>
  `[${`${item},`.repeat(Math.floor(bytes / (item.length + 1)) - 1)}0]`
const list = (count: number, make: (index: number) => string) =>
  `[${Array.from({ length: count }, (_, i) => make(i)).join()}]`

describe('bodies that take long to parse', () => {
  const server = useServer('sqlite', { isOwn: true })

  /** Counts the work for a call with these fields of `data`. */
  async function expectShortCall(
    path: string,
    fields: string,
    status: number,
    limits: Parameters<typeof expectShortIterations>[1] = { jsonBytes: 1.1 * ordinaryBytes },
  ): Promise<LoopWork> {
    const { headers } = await given.tenant(server)
    const body = Buffer.from(`{"data":{${fields}}}`)
    const send = async () => {
      const sent = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body }
      const response = await fetch(`${server.url}${path}`, sent)
      const answer = (await response.text()).slice(0, 200)
      expect({ status: response.status, answer }).toMatchObject({ status })
    }
    return expectShortIterations(send, limits)
  }

  const ordinary: [name: string, value: string][] = [
    ['keys that no two objects share', list(9_900, (i) => `{"k${i}":1}`)],
    ['keys of one object', `{${Array.from({ length: 9_900 }, (_, i) => `"k${i}":1`).join()}}`],
    [
      'nested objects',
      list(
        160,
        (j) => `${Array.from({ length: 58 }, (_, i) => `{"k${j}_${i}":`).join('')}1${'}'.repeat(58)}`,
      ),
    ],
    ['short strings', list(49_000, (i) => `"${i.toString(36)}"`)],
    ['empty objects', list(49_000, () => '{}')],
    ['empty arrays', list(49_000, () => '[]')],
    ['numbers', filled('1', ordinaryBytes)],
    ['floats', filled('0.1234567890123', ordinaryBytes)],
    ['one long string', `"${'x'.repeat(ordinaryBytes)}"`],
    ['umlauts', `"${'é'.repeat(ordinaryBytes / 2)}"`],
    ['escapes', `"${'\\n'.repeat(ordinaryBytes / 2)}"`],
    ['escaped surrogates', `"${'\\ud83d\\ude00'.repeat(Math.floor(ordinaryBytes / 12))}"`],
  ]

  const state = (value: string) =>
    `"organizationId":"o1","documentId":"d1","liveStateDataId":"s1","data":{"x":${value}}`

  test.each(ordinary)(
    '[S2] [S5.2] a large body of %s does not block the event loop',
    async (_name, value) => {
      await expectShortCall('/v2/livestate/broadcast', state(value), 200)
    },
  )

  test.each([
    ['empty objects', filled('{}', ordinaryBytes)],
    ['nested arrays', filled(`${'['.repeat(50)}${']'.repeat(50)}`, ordinaryBytes)],
    ['keys', list(59_000, (i) => `{"k${i}":1}`)],
  ])('[S2] a body with too many %s is refused without blocking the event loop', async (_name, value) => {
    await expectShortCall('/v2/livestate/broadcast', state(value), 400)
  })

  test.each([
    [40, '32 KB', 3_200],
    [15, '90 KB', 9_900],
  ])(
    '[S2] [S5.2] %i bodies of %s that arrive together do not block the event loop',
    async (bodies, _size, keys) => {
      const { headers } = await given.tenant(server)
      const body = `{"data":{"x":${list(keys, (i) => `{"${i.toString(36)}":1}`)}}}`
      const fields = {
        ...headers,
        host: 'x',
        'content-type': 'application/json',
        'content-length': body.length,
      }
      const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
      const request = `POST /v2/organizations/get HTTP/1.1\r\n${lines.join('')}\r\n${body}`
      const connections = await Promise.all(
        Array.from({ length: bodies }, async () => {
          const connection = openHttp(server.url)
          await once(connection.socket, 'connect')
          return connection
        }),
      )
      // All bytes but the last are sent first, so that the server reads the ends of all bodies in one iteration.
      for (const { send } of connections) send(request.slice(0, -1))
      await expect.poll(() => connections.every(({ socket }) => socket.writableLength === 0)).toBe(true)
      const finish = async () => {
        for (const { send } of connections) send('}')
        const answers = await Promise.all(connections.map(({ answer }) => answer()))
        for (const answer of answers) expect(answer).toMatchObject({ status: 200 })
      }
      await expectShortIterations(finish)
      for (const { socket } of connections) socket.destroy()
    },
  )

  const crdt: [name: string, type: string, data: string, status: number][] = [
    ['10 MiB of plain text', 'text', `"${'x'.repeat(maxCrdtBytes)}"`, 200],
    ['2 MiB of umlauts', 'text', `"${'é'.repeat(crdtBytes / 2)}"`, 200],
    ['2 MiB of emoji', 'text', `"${'😀'.repeat(crdtBytes / 4)}"`, 200],
    ['2 MiB of escapes', 'text', `"${'\\n'.repeat(crdtBytes / 2)}"`, 200],
    ['2 MiB of escaped quotes', 'text', `"${'\\"'.repeat(crdtBytes / 2)}"`, 200],
    ['2 MiB of escaped surrogates', 'text', `"${'\\ud83d\\ude00'.repeat(Math.floor(crdtBytes / 12))}"`, 200],
    ['2 MiB of numbers', 'array', filled('1', crdtBytes), 200],
    ['2 MiB of short strings', 'array', filled('"ab"', crdtBytes), 200],
    [
      '10,000 keys',
      'map',
      `{${Array.from({ length: 10_000 }, (_, i) => `"k${i}":"${'v'.repeat(200)}"`).join()}}`,
      200,
    ],
    ['2 MiB of blanks', 'text', `${' '.repeat(crdtBytes)}"x"`, 413],
  ]

  test.each(crdt)(
    '[S2] %s as CRDT data do not block the event loop',
    async (_name, type, data, status) => {
      const fields = `"organizationId":"org_1","documentId":"doc_1","editorId":"e","type":"${type}","data":${data}`
      // The update is one row, which is not divided. Threads parse the JSON.
      await expectShortCall('/v2/crdt/add', fields, status, { rowBytes: 1.2 * Buffer.byteLength(data) })
    },
    120_000,
  )
})
