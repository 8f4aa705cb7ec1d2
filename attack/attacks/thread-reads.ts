import { once } from 'node:events'
import { Agent, request } from 'node:http'
import type { ClientMessage } from '@plenum/protocol/realtime'
import { WebSocket } from 'ws'
import type { Attack, Scene } from '../attack.ts'
import { userToken } from '../tenant.ts'

/** Another address than the bystander's: requests of one address wait for each other until their credentials are checked. */
const localAddress = '127.0.0.2'
const documentRef = { organizationId: 'org_1', documentId: 'doc_1' } as const
const threadCount = 50
/** Together about 75 KB in each thread. */
const commentsPerThread = 8
const text = 'x'.repeat(9_400)

async function writeThreads({ attacker: { client } }: Scene): Promise<void> {
  await client.organizations.add({ organizations: [{ organizationId: documentRef.organizationId }] })
  await client.documents.add({
    organizationId: documentRef.organizationId,
    documents: [{ documentId: documentRef.documentId }],
  })
  const commentData = Array.from({ length: commentsPerThread }, () => ({
    commentText: text,
    from: { userId: 'ada' },
  }))
  for (let from = 0; from < threadCount; from += 10) {
    await client.commentAnnotations.add({
      ...documentRef,
      commentAnnotations: Array.from({ length: 10 }, () => ({ commentData })),
    })
  }
}

const input = { ...documentRef, pageSize: threadCount }

/** One user reads the same threads over REST, many times at once. */
export const threadReads: Attack = {
  name: 'reads of large threads by one user, many at once',
  heapMegabytes: 512,
  maxMegabytes: 300,
  async prepare(scene) {
    await writeThreads(scene)
    const { url, attacker, size } = scene
    const token = await userToken(attacker, 'ada')
    const agent = new Agent({ keepAlive: true, maxFreeSockets: 2_000, localAddress })
    const send = (path: string, body: unknown) =>
      new Promise<void>((resolve) => {
        const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
        const sent = request(`${url}${path}`, { method: 'POST', headers, agent })
        sent.on('error', () => resolve())
        sent.on('response', (response) => response.resume().on('close', resolve))
        sent.end(JSON.stringify(body))
      })
    const all = (path: string, body: unknown) =>
      Promise.all(Array.from({ length: size === 'short' ? 300 : 1_800 }, () => send(path, body)))
    // Opens the connections. Bursts of connections are an attack of their own.
    await all('/v2/nothing', {})
    return async () => {
      await all('/v2/commentannotations/get', { data: input })
      agent.destroy()
    }
  },
}

/** One user reads the same threads on many sockets. */
export const threadReadsOnSockets: Attack = {
  name: 'reads of large threads by one user on many sockets',
  heapMegabytes: 512,
  maxMegabytes: 300,
  async prepare(scene) {
    await writeThreads(scene)
    const { url, attacker, size } = scene
    const token = await userToken(attacker, 'ada')
    const [socketCount, callCount] = size === 'short' ? [30, 8] : [150, 16]
    const sockets = await Promise.all(
      Array.from({ length: socketCount }, async () => {
        const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/realtime?token=${token}`, {
          localAddress,
        })
        socket.on('error', () => {})
        await once(socket, 'open')
        return socket
      }),
    )
    return async () => {
      await Promise.all(
        sockets.map(
          (socket) =>
            new Promise<void>((resolve) => {
              let unanswered = callCount
              socket.on('close', () => resolve())
              socket.on('message', () => {
                if (--unanswered === 0) resolve()
              })
              for (let id = 0; id < callCount; id++) {
                const message: ClientMessage = {
                  type: 'call',
                  id,
                  operation: 'commentAnnotations.get',
                  input,
                }
                socket.send(JSON.stringify(message))
              }
            }),
        ),
      )
      for (const socket of sockets) socket.terminate()
    }
  },
}
