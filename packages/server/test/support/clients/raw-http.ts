import { connect, type Socket } from 'node:net'

export interface RawAnswer {
  status: number
  headers: Record<string, string>
  text: string
}

export interface HttpConnection {
  socket: Socket
  send(bytes: string | Uint8Array): void
  /** Returns the next answer; undefined if the server closes the connection instead. */
  answer(): Promise<RawAnswer | undefined>
  /** Resolves when the server has closed the connection. */
  closed: Promise<void>
}

/** Opens a TCP connection to the HTTP server, for sending any bytes. `noBody`: answers have no body, as to HEAD. */
export function openHttp(url: string, { noBody = false } = {}): HttpConnection {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname.replace(/[[\]]/g, ''))
  let received = Buffer.alloc(0)
  let ended = false
  let waiting: (() => void) | undefined
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, chunk])
    waiting?.()
  })
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  // Some tests expect the connection to break while it sends.
  socket.on('error', () => {})
  void closed.then(() => {
    ended = true
    waiting?.()
  })

  const takeAnswer = (): RawAnswer | undefined => {
    const end = received.indexOf('\r\n\r\n')
    if (end < 0) return undefined
    const [line = '', ...fields] = received.subarray(0, end).toString('latin1').split('\r\n')
    const headers = Object.fromEntries(
      fields.map((field) => [
        field.split(':', 1)[0]?.toLowerCase() ?? '',
        field.slice(field.indexOf(':') + 1).trim(),
      ]),
    )
    const length = noBody ? 0 : Number(headers['content-length'] ?? 0)
    if (received.length < end + 4 + length) return undefined
    const text = received.subarray(end + 4, end + 4 + length).toString()
    received = received.subarray(end + 4 + length)
    return { status: Number(line.split(' ')[1]), headers, text }
  }

  return {
    socket,
    send: (bytes) => void socket.write(bytes),
    async answer() {
      for (;;) {
        const answer = takeAnswer()
        if (answer || ended) return answer
        await new Promise<void>((resolve) => (waiting = resolve))
      }
    },
    closed,
  }
}

/** Sends the bytes on a new connection and returns the first answer. */
export async function exchange(
  url: string,
  bytes: string | Uint8Array,
  options?: { noBody?: boolean },
): Promise<RawAnswer | undefined> {
  const connection = openHttp(url, options)
  connection.send(bytes)
  const answer = await connection.answer()
  connection.socket.destroy()
  return answer
}

/** The text of a POST request: `post('/v2/x', {}, '{}')`. Has a content-length unless the headers have a transfer-encoding. */
export function post(path: string, headers: Record<string, string> = {}, body = ''): string {
  const fields: Record<string, string> = { host: 'test', 'content-type': 'application/json', ...headers }
  if (!('transfer-encoding' in fields)) fields['content-length'] ??= String(Buffer.byteLength(body))
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  return `POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`
}
