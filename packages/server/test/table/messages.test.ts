import { describe, expect, test } from 'vitest'
import {
  type ClientMessageDeclaration,
  clientMessages,
  type MessageDeclaration,
  serverMessages,
} from '@plenum/protocol/messages'
import { closeCodes, type ServerMessage } from '@plenum/protocol/realtime'
import { readAllRows } from '../support/data/all-rows.ts'
import { eventually } from '../support/clients/convergence.ts'
import { RealtimeSocket } from '../support/clients/realtime-socket.ts'
import * as given from '../support/given.ts'
import { stores, useServer } from '../support/harness.ts'
import { type Field, fieldsOf, nameOf, withField } from '../support/table/schema-fields.ts'
import { tokenFor } from '../support/access/user-tokens.ts'

const sent = Object.entries<ClientMessageDeclaration>(clientMessages)
const received = Object.entries<MessageDeclaration>(serverMessages)

/** Values that the field refuses: other types, and values just beyond its limits. */
function wrongFor(schema: Field['schema']): unknown[] {
  const options = schema.anyOf ?? [schema]
  const accepts = (type: string) => options.some((option) => option.type === type)
  const { minimum, maximum, maxLength, maxItems, items, enum: choices } = schema
  return [
    ...(accepts('string') ? [] : ['text']),
    ...(accepts('integer') ? [1.5] : [7]),
    ...(accepts('boolean') ? [] : [true]),
    ...(accepts('null') ? [] : [null]),
    ...(accepts('array') ? [] : [['a']]),
    ...(accepts('object') ? [] : [{ a: 1 }]),
    ...(choices ? ['no such choice'] : []),
    ...(minimum === undefined ? [] : [minimum - 1]),
    ...(maximum === undefined ? [] : [maximum + 1]),
    ...(maxLength === undefined ? [] : ['x'.repeat(maxLength + 1)]),
    ...(maxItems === undefined ? [] : [Array.from({ length: maxItems + 1 }, () => items?.enum?.[0])]),
  ]
}

describe('[R10.8] the declared messages of /realtime', () => {
  test('[R10.8] no type is a message of both the client and the server, and every declared answer exists', () => {
    const types = [...sent, ...received].map(([type]) => type)
    expect(new Set(types).size).toBe(types.length)
    const answers = sent.flatMap(([, message]) => message.answers)
    expect(answers.filter((type) => !Object.hasOwn(serverMessages, type))).toEqual([])
    // A message whose errors are listed can be answered with an error, and the other way round.
    for (const [type, { answers, errors }] of sent) {
      expect([type, answers.includes('error')]).toEqual([type, errors !== undefined])
    }
  })

  test('[R10.8] a request has an id, and at most one field of a message is stored', () => {
    for (const [type, { fields, done }] of sent) {
      const { properties = {}, required = [] } = fields as Field['schema']
      expect([type, required.includes('id')]).toEqual([type, done !== undefined])
      expect(Object.values(properties).filter((field) => field['x-stored']).length).toBeLessThan(2)
    }
  })
})

describe.each(stores)('the messages of a client on %s', (store) => {
  const server = useServer(store, { isOwn: true })

  test.each(sent)('[R10.8] the example of %s gets a declared answer', async (type, message) => {
    const tenant = await given.tenant(server)
    const token = await tokenFor(tenant)
    const client = await RealtimeSocket.connect(server, token)
    if (type !== 'open') await client.open()
    if (type !== 'open' && type !== 'openEditor') await client.openEditor('note', { channel: 5 })
    const own = type === 'auth' ? { token } : type === 'open' ? { organizationId: 'org_1' } : {}
    client.socket.send(JSON.stringify({ type, ...message.example, ...own }))
    const isAnswer = ({ type: one }: ServerMessage) => message.answers.includes(one)
    if (message.answers.some((one) => one !== 'error')) {
      await eventually(() => client.messages.find(isAnswer)).toBeDefined()
      const { id } = message.example as { id?: number }
      if (message.done) expect(client.messages.find(isAnswer)).toMatchObject({ id })
    } else {
      await client.settled()
      expect(client.messages.filter(({ type: one }) => one === 'error')).toEqual([])
    }
    // The connection is still open.
    await client.settled()
  })
})

describe('the fields of the messages of a client', () => {
  const server = useServer('sqlite', { isOwn: true })

  test.each(sent)(
    '[R10.1] %s with a field of a wrong type or without a required field closes the connection, names the field and changes nothing',
    async (type, { fields, example }) => {
      const tenant = await given.tenant(server)
      const token = await tokenFor(tenant)
      const connect = async () => {
        const client = await RealtimeSocket.connect(server, token)
        await client.open()
        await client.openEditor('note', { channel: 5 })
        return client
      }
      const bystander = await connect()
      const before = await readAllRows(server)
      const refuse = async (message: unknown, reason: unknown) => {
        const client = await connect()
        client.socket.send(JSON.stringify(message))
        // A message after the invalid one has no effect.
        client.send({ type: 'setLiveState', ref: 1, id: 2, liveStateDataId: 'late', data: {} })
        expect(await client.closed).toEqual({ code: closeCodes.badMessage, reason })
      }
      for (const { path, schema, isRequired } of fieldsOf(fields, example)) {
        const name = nameOf(path)
        for (const value of wrongFor(schema)) {
          const message = { type, ...(withField(example, path, value) as object) }
          await refuse(message, expect.stringContaining(`${name} must `))
        }
        if (isRequired && typeof path.at(-1) === 'string') {
          const message = { type, ...(withField(example, path, undefined) as object) }
          await refuse(message, `${name} is required.`)
        }
      }
      expect(await readAllRows(server)).toEqual(before)
      expect(await bystander.set('fine', {})).toMatchObject({ type: 'done', position: { seq: 1 } })
    },
  )

  test.each(['nonsense', 'toString', 'ready', '', 'OPEN'])(
    '[R10.1] a message of the unknown type "%s" closes the connection with a sentence that lists no types',
    async (type) => {
      const client = await RealtimeSocket.connect(server, await tokenFor(await given.tenant(server)))
      client.socket.send(JSON.stringify({ type, ref: 1 }))
      expect(await client.closed).toEqual({
        code: closeCodes.badMessage,
        reason: 'type is not a known message type.',
      })
    },
  )
})
