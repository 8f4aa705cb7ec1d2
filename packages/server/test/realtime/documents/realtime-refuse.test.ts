import { describe, expect, test } from 'vitest'
import { closeCodes } from '@plenum/protocol/realtime'
import * as given from '../../support/given.ts'
import { anyStore, useServer } from '../../support/harness.ts'
import { eventually } from '../../support/clients/convergence.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'
import { RealtimeSocket, DocumentView } from '../../support/clients/realtime-socket.ts'

const documentRef = { organizationId: 'org_1', documentId: 'doc_1' }

describe('refused messages at /realtime', () => {
  const server = useServer(anyStore)
  const connect = async (tenant: given.Tenant, userId = 'ada') =>
    RealtimeSocket.connect(server, await tokenFor(tenant, userId))

  test('[R10.2] a valid message that cannot be carried out is refused and changes nothing', async () => {
    const tenant = await given.tenant(server)
    const client = await connect(tenant)
    await client.open()
    client.send({ type: 'open', ref: 1, organizationId: 'org_1', documentId: 'doc_2', topics: [] })
    expect(await client.take('error')).toMatchObject({ ref: 1, status: 'ALREADY_EXISTS' })
    client.send({ type: 'setPresence', ref: 2, status: 'away' })
    expect(await client.take('error')).toMatchObject({ ref: 2, status: 'NOT_FOUND' })
    expect(await client.set('a', {}, { ref: 2 })).toMatchObject({ id: 1, ref: 2, status: 'NOT_FOUND' })
    const accepted =
      'must have 1 to 256 characters, must not contain control characters and must not be "." or "..".'
    expect(await client.set('a\nb', {})).toMatchObject({
      id: 2,
      ref: 1,
      status: 'INVALID_ARGUMENT',
      message: `liveStateDataId ${accepted}`,
    })
    client.send({ type: 'openEditor', ref: 2, channel: 1, editorId: 'note' })
    expect(await client.take('error')).toMatchObject({ ref: 2, channel: 1, status: 'NOT_FOUND' })
    client.send({ type: 'open', ref: 3, organizationId: 'org\n1', documentId: 'doc_2', topics: [] })
    expect(await client.take('closed')).toMatchObject({
      ref: 3,
      code: closeCodes.badMessage,
      reason: `organizationId ${accepted}`,
    })
    client.send({ type: 'openEditor', ref: 1, channel: 1, editorId: '..' })
    expect(await client.take('editorClosed')).toMatchObject({
      channel: 1,
      code: closeCodes.badMessage,
      reason: `editorId ${accepted}`,
    })
    client.sendFrame('update', Uint8Array.of(0, 0), 9, 1)
    expect(await client.take('error')).toMatchObject({ channel: 9, status: 'NOT_FOUND' })
    await client.openEditor()
    client.send({ type: 'openEditor', ref: 1, channel: 1, editorId: 'other' })
    expect(await client.take('error')).toMatchObject({ channel: 1, status: 'ALREADY_EXISTS' })
    // Closing a document or an editor that is not open is not an error.
    client.send({ type: 'close', ref: 9 })
    client.send({ type: 'closeEditor', channel: 9 })
    await client.settled()
    expect(client.messages).toEqual([])
    expect(await client.set('a', {})).toMatchObject({ type: 'done', position: { seq: 1 } })
  })

  test('[R10.1] a frame that is not a valid message closes its connection and affects no other client', async () => {
    const tenant = await given.tenant(server)
    const bystander = await connect(tenant, 'bob')
    const view = new DocumentView(bystander)
    await bystander.open()
    const open = { type: 'open', ref: 1, ...documentRef, topics: [] }
    const set = { type: 'setLiveState', ref: 1, id: 1, liveStateDataId: 'evil', data: {} }
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    const keys = JSON.stringify(Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, 1])))
    const cases: [string | Uint8Array, RegExp][] = [
      ['', /^The message is not JSON/],
      ['{', /JSON/],
      ['{"type":"open","ref":01}', /^ref: The message is not JSON/],
      ['nonsense', /JSON/],
      ['null', /object/],
      ['[]', /object/],
      ['{}', /^type is required\.$/],
      ['{"type":1}', /^type must be a string\.$/],
      ['{"type":"toString"}', /^type is not a known message type\.$/],
      ['{"type":"ready"}', /^type is not a known message type\.$/],
      ['{"type":"__proto__"}', /^type is not a known message type\.$/],
      [JSON.stringify({ ...open, ref: -1 }), /^ref must be at least 0\.$/],
      [JSON.stringify({ ...open, ref: 1.5 }), /^ref must be an integer/],
      [JSON.stringify({ ...open, ref: '1' }), /^ref must be an integer/],
      [JSON.stringify({ ...open, ref: 2 ** 53 }), /^ref must be at most 9007199254740991\.$/],
      [JSON.stringify({ ...open, organizationId: 1 }), /^organizationId must be a string/],
      [JSON.stringify({ ...open, documentId: '' }), /^documentId is required\.$/],
      [
        JSON.stringify({ ...open, documentId: 'x'.repeat(2000) }),
        /^documentId must have at most 1000 characters\.$/,
      ],
      [JSON.stringify({ ...open, topics: 'presence' }), /^topics must be an array/],
      [JSON.stringify({ ...open, topics: ['everything'] }), /^topics\[0\] must be one of: presence,/],
      [JSON.stringify({ ...open, since: { epoch: 'a' } }), /^since\.seq is required\.$/],
      [JSON.stringify({ ...open, since: [] }), /^since must be an object/],
      [JSON.stringify({ ...set, data: [] }), /^data must be an object/],
      [JSON.stringify({ ...set, data: null }), /^data must be an object/],
      [JSON.stringify({ ...set, merge: 1 }), /^merge must be a boolean/],
      [JSON.stringify({ ...set, id: null }), /^id must be an integer/],
      [JSON.stringify(set).replace('{}', '{"__proto__":{"a":1}}'), /^data: __proto__/],
      [JSON.stringify(set).replace('{}', `{"a":${deep}}`), /^data: The message is nested deeper than 64\.$/],
      [JSON.stringify(set).replace('{}', keys), /^data: The message has more than 10000 keys\.$/],
      [JSON.stringify({ ...set, data: { a: 'x'.repeat(1024 * 1024) } }), /bytes/],
      [
        JSON.stringify({ ...set, extra: 'x'.repeat(40_000) }),
        /^extra: The fields must have at most 32768 bytes\.$/,
      ],
      [
        JSON.stringify({ ...set, id: 'x'.repeat(20_000), data: { a: 'x'.repeat(20_000) } }),
        /^id must be an integer/,
      ],
      [JSON.stringify({ type: 'setPresence', ref: 1, status: 'busy' }), /^status must be one of/],
      [JSON.stringify({ type: 'setPresence', ref: 1, data: 'x' }), /^data must be an object/],
      [JSON.stringify({ type: 'openEditor', ref: 1, channel: 1, editorId: 1 }), /^editorId must be a string/],
      [new Uint8Array(), /malformed/],
      [Uint8Array.of(1), /malformed/],
      [Uint8Array.of(1, 0), /malformed/],
      [Uint8Array.of(1, 0, 5, 1), /malformed/],
      [Uint8Array.of(1, 9, 0), /not part/],
      [Uint8Array.of(1, 4, 1), /malformed|not part/],
      [Uint8Array.of(1, 0, 0, 7), /not part/],
      [Uint8Array.of(255, 255, 255, 255, 255, 255, 255, 255, 255, 255), /malformed/],
    ]
    const token = await tokenFor(tenant)
    for (const [frame, reason] of cases) {
      const client = await RealtimeSocket.connect(server, token)
      await client.open()
      await client.openEditor()
      client.socket.send(frame)
      // A message after the invalid frame has no effect.
      client.send({ type: 'setLiveState', ref: 1, id: 2, liveStateDataId: 'late', data: {} })
      const label = typeof frame === 'string' ? frame.slice(0, 60) : Buffer.from(frame).toString('hex')
      expect(await client.closed, label).toEqual({
        code: closeCodes.badMessage,
        reason: expect.stringMatching(reason),
      })
    }
    expect(await bystander.set('fine', {})).toMatchObject({ type: 'done', position: { seq: 1 } })
    await eventually(() => view.data('fine')).toEqual({})
    expect([...view.states.keys()]).toEqual(['fine'])
    await eventually(() => view.present).toEqual({ bob: 'online' })
  })
})
