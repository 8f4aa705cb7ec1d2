import { once } from 'node:events'
import { WebSocket } from 'ws'
import type { Attack } from '../attack.ts'
import { userToken } from '../tenant.ts'

const editorRef = { organizationId: 'org_1', documentId: 'doc_1', editorId: 'large' }

/** Writes the largest allowed content into an open editor, repeatedly. */
export const largeWrites: Attack = {
  name: 'large REST writes into an open editor',
  async prepare({ url, attacker, size }) {
    const { client } = attacker
    const [paragraphCount, roundCount] = size === 'short' ? [5_000, 2] : [24_000, 6]
    const content = (word: string) =>
      Array.from({ length: paragraphCount }, (_, i) => `<p>${word.repeat(70)}${i}</p>`).join('')
    const contents = ['lorem', 'dolor'].map(content)
    await client.crdt.add({ ...editorRef, type: 'xml', data: '<p>first</p>' })
    const token = await userToken(attacker, 'mallory')
    const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/yjs/org_1/doc_1/large?token=${token}`)
    await once(socket, 'message')
    return async () => {
      for (let round = 0; round < roundCount; round++) {
        await client.crdt.update({ ...editorRef, type: 'xml', data: contents[round % 2] as string })
      }
      socket.terminate()
    }
  },
}
