import { connect } from 'node:net'

export interface Load {
  port: number
  path: string
  headers: Record<string, string>
  /** Returns the body of the n-th request. */
  body: (request: number) => string
  connectionCount: number
  requestCount: number
  /** Every answer must have this status. Default: 200. */
  status?: number
}

/**
 * Sends requests over keep-alive connections, one at a time on each, and checks the status of every answer. It uses plain
 * sockets: the cheaper the client, the less it disturbs the server on a machine with two cores.
 */
export async function sendRequests({
  port,
  path,
  headers,
  body,
  connectionCount,
  requestCount,
  status = 200,
}: Load): Promise<void> {
  let sentCount = 0
  const head = Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
  const sendOnOneConnection = () =>
    new Promise<void>((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true })
      let received = ''
      const next = () => {
        if (sentCount >= requestCount) {
          socket.end()
          return resolve()
        }
        const text = body(sentCount++)
        socket.write(
          `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n${head}content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
        )
      }
      socket.setEncoding('latin1').on('data', (chunk: string) => {
        received += chunk
        const end = received.indexOf('\r\n\r\n')
        if (end < 0) return
        const length = Number(/content-length: (\d+)/i.exec(received.slice(0, end))?.[1])
        if (received.length < end + 4 + length) return
        if (!received.startsWith(`HTTP/1.1 ${status}`)) return reject(new Error(received.slice(0, 500)))
        received = ''
        next()
      })
      socket.on('error', reject)
      next()
    })
  await Promise.all(Array.from({ length: connectionCount }, sendOnOneConnection))
}
