import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { UnsentAnswers } from '../../platform/turns/unsent-answers.ts'
import { WholeDocuments } from './whole-documents.ts'

const MiB = 1024 * 1024
const tooMany = { status: 'RESOURCE_EXHAUSTED', httpStatus: 429 }

const response = () =>
  Object.assign(new EventEmitter(), { destroyed: false, setTimeout() {} }) as unknown as ServerResponse

test('[R52.3] documents that clients have not read take at most 64 MiB per API key and 256 MiB in total', async () => {
  const documents = new WholeDocuments(new UnsentAnswers())
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

test('[R52.3] a user can read at most four documents at the same time, a backend more', async () => {
  const documents = new WholeDocuments(new UnsentAnswers())
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

test('[R52.3] a read whose client has already disconnected loads nothing and does not count', async () => {
  const documents = new WholeDocuments(new UnsentAnswers())
  let loads = 0
  const read = (to: ServerResponse) =>
    documents.read({ apiKey: 'key', userId: 'ada' }, to, async () => new Uint8Array(++loads))
  for (let count = 0; count < 10; count++) await read(Object.assign(response(), { destroyed: true }))
  for (const _ of [1, 2, 3, 4]) await read(response())
  expect(loads).toBe(4)
})

test('[R52.3] documents read over HTTP and answers over sockets share the limits of an API key', async () => {
  const unsent = new UnsentAnswers()
  const documents = new WholeDocuments(unsent)
  const read = (megabytes: number, to = response()) =>
    documents.read({ apiKey: 'key', userId: undefined }, to, async () => new Uint8Array(megabytes * MiB))
  const body = new Uint8Array(40 * MiB)
  const remove = unsent.add({ apiKey: 'key', userId: 'ada', body, isHeld: () => false })
  await expect(read(32)).rejects.toMatchObject(tooMany)
  remove()
  const slow = response()
  await read(32, slow)
  expect(unsent.hasSpaceFor('key', 40 * MiB)).toBe(false)
  slow.emit('close')
  expect(unsent.hasSpaceFor('key', 40 * MiB)).toBe(true)
})

test('[R52.3] a client that takes nothing of a document for 10 s is disconnected', async () => {
  const documents = new WholeDocuments(new UnsentAnswers())
  let isDestroyed = false
  let onStalled = () => {}
  const slow = Object.assign(response(), {
    setTimeout(ms: number, run: () => void) {
      expect(ms).toBe(10_000)
      onStalled = run
    },
    destroy: () => (isDestroyed = true),
  }) as unknown as ServerResponse
  await documents.read({ apiKey: 'key', userId: 'ada' }, slow, async () => new Uint8Array(1))
  expect(isDestroyed).toBe(false)
  onStalled()
  expect(isDestroyed).toBe(true)
})

test('[R52.3] a document larger than the limit of its API key can be read while the API key reads no other', async () => {
  const documents = new WholeDocuments(new UnsentAnswers())
  const read = (megabytes: number, to = response()) =>
    documents.read({ apiKey: 'key', userId: undefined }, to, async () => new Uint8Array(megabytes * MiB))
  const first = response()
  await read(1, first)
  await expect(read(65)).rejects.toMatchObject(tooMany)
  first.emit('close')
  expect(await read(65)).toHaveLength(65 * MiB)
})
