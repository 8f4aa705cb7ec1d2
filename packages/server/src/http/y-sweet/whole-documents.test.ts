import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { WholeDocuments } from './whole-documents.ts'

const MiB = 1024 * 1024
const tooMany = { status: 'RESOURCE_EXHAUSTED', httpStatus: 429 }

const response = () =>
  Object.assign(new EventEmitter(), { destroyed: false, setTimeout() {} }) as unknown as ServerResponse

test('[R52.3] of documents that clients do not take, an API key has 64 MiB, and all keys together 256 MiB', async () => {
  const documents = new WholeDocuments()
  const read = (apiKey: string, to = response()) =>
    documents.read({ apiKey, userId: undefined }, to, async () => new Uint8Array(32 * MiB))
  const slow = response()
  await read('key 0', slow)
  await read('key 0')
  await expect(read('key 0')).rejects.toMatchObject(tooMany)
  for (const apiKey of ['key 1', 'key 2', 'key 3']) for (const _ of [1, 2]) await read(apiKey)
  await expect(read('key 4')).rejects.toMatchObject(tooMany)
  slow.emit('close')
  await read('key 4')
})

test('[R52.3] a user reads four documents at the same time', async () => {
  const documents = new WholeDocuments()
  const read = (userId: string | undefined, to = response()) =>
    documents.read({ apiKey: 'key', userId }, to, async () => new Uint8Array(1))
  const first = response()
  await read('ada', first)
  for (const _ of [1, 2, 3]) await read('ada')
  await expect(read('ada')).rejects.toMatchObject(tooMany)
  for (let count = 0; count < 10; count++) await read(undefined)
  await read('bob')
  first.emit('close')
  await read('ada')
})

test('[R52.3] a user who disconnected before the document was read takes nobody a place', async () => {
  const documents = new WholeDocuments()
  let loads = 0
  const read = (to: ServerResponse) =>
    documents.read({ apiKey: 'key', userId: 'ada' }, to, async () => new Uint8Array(++loads))
  for (let count = 0; count < 10; count++) await read(Object.assign(response(), { destroyed: true }))
  for (const _ of [1, 2, 3, 4]) await read(response())
  expect(loads).toBe(4)
})
