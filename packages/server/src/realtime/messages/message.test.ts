import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { limits } from '@plenum/protocol/realtime'
import { clientMessages } from '@plenum/protocol/messages'
import { readMessage } from './message.ts'

const read = (text: string) => readMessage(Buffer.from(text), limits.jsonBytes)
/** Returns the message, or the reason why there is none. */
const outcomeOf = (text: string) => {
  const result = read(text)
  return 'message' in result ? result.message : result.reason
}

describe('[R10] messages of clients', () => {
  test('[R10] messages of every type are read with their fields, and unknown fields are dropped', () => {
    const position = { epoch: 'a', seq: 3 }
    const documentRef = { organizationId: 'o', documentId: 'd' }
    const messages = [
      { type: 'auth', token: 'x' },
      { type: 'open', ref: 1, ...documentRef, topics: ['presence', 'liveState'], since: position },
      { type: 'open', ref: 0, ...documentRef, topics: [] },
      { type: 'close', ref: 1 },
      { type: 'setPresence', ref: 1, status: 'away', data: { a: [1, null] } },
      { type: 'setPresence', ref: 1, data: null },
      { type: 'setPresence', ref: 1 },
      { type: 'setLiveState', ref: 1, id: 2, liveStateDataId: 'a', data: {}, merge: true },
      { type: 'openEditor', ref: 1, channel: 2, editorId: 'e', contentType: 'xml', contentKey: 'k' },
      { type: 'closeEditor', channel: 2 },
      { type: 'listVersions', channel: 2, id: 3, pageSize: 10, pageToken: 't' },
      { type: 'listVersions', channel: 2, id: 3 },
      { type: 'addVersion', channel: 2, id: 3, name: 'Draft' },
      { type: 'restoreVersion', channel: 2, id: 3, versionId: 'v' },
      { type: 'ping' },
    ]
    for (const message of messages) {
      const read = outcomeOf(JSON.stringify({ ...message, userId: 'somebody else', extra: {} }))
      const json = 'data' in message && message.data ? { data: JSON.stringify(message.data) } : {}
      expect(JSON.parse(JSON.stringify(read))).toEqual({ ...message, ...json })
    }
  })

  test('[R10.9] unknown fields inside a field are dropped too', () => {
    const open = { type: 'open', ref: 1, organizationId: 'o', documentId: 'd', topics: [] }
    const since = { epoch: 'a', seq: 3 }
    expect(outcomeOf(JSON.stringify({ ...open, since: { ...since, extra: 'x' } }))).toEqual({
      ...open,
      since,
    })
  })

  test('[R10.1] a message with too many levels, keys, values or bytes, or with invalid UTF-8, is refused', () => {
    const set = (data: string) =>
      outcomeOf(`{"type":"setLiveState","ref":1,"id":1,"liveStateDataId":"a","data":{"a":${data}}}`)
    const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
    const keys = (count: number) => `{${Array.from({ length: count }, (_, index) => `"k${index}":1`).join()}}`
    expect(set(deep(62))).toMatchObject({ type: 'setLiveState' })
    expect(set(deep(63))).toContain('nested deeper than 64')
    expect(set(keys(9_994))).toMatchObject({ type: 'setLiveState' })
    expect(set(keys(9_995))).toContain('more than 10000 keys')
    const values = (count: number) =>
      `[${Array.from({ length: count }, (_, i) => ['[]', '{}', '"x"', 1][i % 4]).join()}]`
    // A quarter of the values are numbers, which do not count. The message itself has five values.
    expect(set(values(66_000))).toMatchObject({ type: 'setLiveState' })
    expect(set(values(67_000))).toContain('more than 50000 strings, arrays and objects')
    expect(set(`"${'x'.repeat(limits.jsonBytes)}"`)).toContain('bytes')
    const small = readMessage(Buffer.from('{"type":"ping"}'), 5)
    expect(small).toEqual({ fault: 'malformed', reason: 'The message must have at most 5 bytes.' })
    const binary = readMessage(Buffer.from([0x22, 0xff, 0x22]), 100)
    expect(binary).toEqual({ fault: 'malformed', reason: 'The message is not UTF-8.' })
  })

  test('[R10.1] any text is either read as a message or refused with a reason', () => {
    const values = fc.oneof(
      fc.json({ maxDepth: 4 }),
      fc.string(),
      fc
        .record({
          type: fc.constantFrom(...Object.keys(clientMessages)),
          ref: fc.jsonValue(),
          id: fc.jsonValue(),
          channel: fc.jsonValue(),
          topics: fc.jsonValue(),
          data: fc.jsonValue(),
          since: fc.jsonValue(),
          token: fc.jsonValue(),
          name: fc.jsonValue(),
          versionId: fc.jsonValue(),
          pageSize: fc.jsonValue(),
          pageToken: fc.jsonValue(),
        })
        .map((value) => JSON.stringify(value)),
    )
    fc.assert(
      fc.property(values, (text) => {
        const result = read(text)
        if ('message' in result) expect(result.message).toHaveProperty('type')
        else expect(result.reason).toMatch(/\.$/)
      }),
      { numRuns: 2000 },
    )
  })
})
