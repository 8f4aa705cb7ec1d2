import { expect, test } from 'vitest'
import { testCrdt } from '../../test/support/updates/document-work.ts'
import { slowDocument } from '../../test/support/updates/scenes.ts'
import { DocumentIndex } from './updates/document-index.ts'

test('[V5] a small hostile document exceeds the time limit that its size gives', async () => {
  const crdt = testCrdt()
  const parts = [slowDocument(10_000)]
  await expect(crdt.compact(parts)).rejects.toThrow('longer than')
  expect(await crdt.index(parts)).toBeInstanceOf(DocumentIndex)
  await crdt.close()
})
