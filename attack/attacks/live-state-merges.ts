import { once } from 'node:events'
import { WebSocket } from 'ws'
import type { Attack } from '../attack.ts'
import { userToken } from '../tenant.ts'

const keyCount = 9_900
const numberCount = 370_000

/**
 * Returns 0.95 MB of JSON, close to the limits of keys, strings, arrays and objects in a message, filled up with numbers.
 * `name` makes the keys of this value differ from the keys of other values.
 */
const largeValue = (name: string) =>
  `{${Array.from({ length: keyCount }, (_, i) => `"k${i}_${name}":[[],{},[]]`).join()},"z":[${'1,'.repeat(numberCount)}1]}`

/** Several clients merge large values into the stored values, repeatedly. */
export const liveStateMerges: Attack = {
  name: 'large live states that are merged',
  async prepare({ url, attacker, size }) {
    const messageCount = size === 'short' ? 1 : 5
    const token = await userToken(attacker, 'mallory')
    const messages = Array.from(
      { length: messageCount },
      (_, i) =>
        `{"type":"setLiveState","ref":1,"id":${i},"liveStateDataId":"s${i}","merge":true,"data":${largeValue(`${i}`)}}`,
    )
    const sockets = await Promise.all(Array.from({ length: 10 }, () => openDocument(url, token)))
    return async () => {
      await Promise.all(sockets.map((socket) => sendAll(socket, messages)))
      for (const socket of sockets) socket.terminate()
    }
  },
}

async function openDocument(url: string, token: string): Promise<WebSocket> {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/realtime?token=${token}`)
  await once(socket, 'message')
  socket.send('{"type":"open","ref":1,"organizationId":"org_1","documentId":"doc_1","topics":[]}')
  await once(socket, 'message')
  return socket
}

/** Sends all messages. Resolves when every message has its answer. */
async function sendAll(socket: WebSocket, messages: readonly string[]): Promise<void> {
  let answerCount = 0
  const answered = new Promise<void>((resolve, reject) => {
    socket.on('message', (answer: Buffer) => {
      // The server sends `pong` while messages wait.
      if (answer.includes('"type":"pong"')) return
      if (!answer.includes('"type":"done"')) reject(new Error(answer.toString('utf8', 0, 200)))
      if (++answerCount === messages.length) resolve()
    })
    socket.once('close', (code) => reject(new Error(`The server closed the socket with ${code}.`)))
  })
  for (const message of messages) socket.send(message)
  await answered
}
