import { connect } from 'node:net'

export interface Load {
  port: number
  path: string
  headers: Record<string, string>
  /** Returns the body of the n-th request. */
  body: (request: number) => string
  connectionCount: number
  requestCount: number
  /** The pause between an answer and the next request of a connection. Default: none. */
  pauseMs?: number
  /** Ends the load before `requestCount`. Requests that were sent are still answered. */
  signal?: AbortSignal
}

export interface LoadResult {
  /** How long each request took, in milliseconds. */
  latencies: number[]
  /** The first lines of the answers that do not have the status 200. */
  failures: string[]
}

/**
 * Sends requests over keep-alive connections, one at a time on each. It uses plain sockets: the cheaper the client, the less
 * it disturbs the server on a machine with two cores.
 */
export async function sendRequests({
  port,
  path,
  headers,
  body,
  connectionCount,
  requestCount,
  pauseMs,
  signal,
}: Load): Promise<LoadResult> {
  const latencies: number[] = []
  const failures: string[] = []
  let sentCount = 0
  const head = Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
  const sendOnOneConnection = () =>
    new Promise<void>((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true })
      let received = ''
      let sentAt = 0
      const next = () => {
        if (sentCount >= requestCount || signal?.aborted) {
          socket.end()
          return resolve()
        }
        const text = body(sentCount++)
        sentAt = performance.now()
        socket.write(
          `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n${head}content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
        )
      }
      // The length of the whole answer, once its head has arrived. Large answers are not searched again with every chunk.
      let answerLength: number | undefined
      let receivedLength = 0
      socket.setEncoding('latin1').on('data', (chunk: string) => {
        receivedLength += chunk.length
        if (answerLength === undefined) {
          received += chunk
          const end = received.indexOf('\r\n\r\n')
          if (end < 0) return
          answerLength = end + 4 + Number(/content-length: (\d+)/i.exec(received.slice(0, end))?.[1])
        }
        if (receivedLength < answerLength) return
        latencies.push(performance.now() - sentAt)
        if (!received.startsWith('HTTP/1.1 200')) failures.push(received.slice(0, received.indexOf('\r\n')))
        received = ''
        answerLength = undefined
        receivedLength = 0
        if (pauseMs === undefined) next()
        else setTimeout(next, pauseMs)
      })
      socket.on('error', reject)
      next()
    })
  await Promise.all(Array.from({ length: connectionCount }, sendOnOneConnection))
  return { latencies, failures }
}
