// `fetch` takes three times the processor time, and tests send very many requests.
import { Agent, type IncomingMessage, request } from 'node:http'
import { isCountingLoopWork } from '../measures/loop-work.ts'

export interface QuickAnswer {
  status: number
  body: any // eslint-disable-line typescript/no-explicit-any
}

// Its idle connections do not keep the process running.
const agent = new Agent({ keepAlive: true })

/** Ends the idle connections to a server that has stopped, so that no request to the next one on its port uses them. */
export function endIdleConnections(url: string): void {
  const { port } = new URL(url)
  for (const [name, sockets] of Object.entries(agent.freeSockets))
    if (name.includes(`:${port}:`)) for (const socket of sockets ?? []) socket.destroy()
}

interface Request {
  method: string
  headers: Record<string, string>
  body: string
  signal?: AbortSignal | null | undefined
}

function exchange(url: string, { method, headers, body, signal }: Request) {
  return new Promise<{ message: IncomingMessage; text: string }>((resolve, reject) => {
    const fields = method === 'GET' ? headers : { ...headers, 'content-length': Buffer.byteLength(body) }
    const options = { method, agent, headers: fields, ...(signal && { signal }) }
    const sent = request(url, options, (message) => {
      let text = ''
      message.setEncoding('utf8')
      message.on('data', (part: string) => (text += part))
      message.on('error', (error) => reject(signal?.aborted ? signal.reason : error))
      message.on('end', () => resolve({ message, text }))
    })
    sent.on('error', (error) => reject(signal?.aborted ? signal.reason : error))
    sent.end(body)
  })
}

/** Sends a request and reads the JSON of the answer. */
export async function quickRequest(
  url: string,
  method: 'GET' | 'POST',
  headers: Record<string, string>,
  body = '',
): Promise<QuickAnswer> {
  const { message, text } = await exchange(url, { method, headers, body })
  return { status: message.statusCode ?? 0, body: text === '' ? undefined : JSON.parse(text) }
}

/** Like `post` of a server, for tests that compare the whole answer: it has no headers. */
export const quickPost = (
  url: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<QuickAnswer> =>
  quickRequest(
    url,
    'POST',
    { 'content-type': 'application/json', ...headers },
    typeof body === 'string' ? body : JSON.stringify(body),
  )

/** The part of `fetch` that clients of this repository use. */
async function quickFetch(url: string, init: RequestInit): Promise<Response> {
  const { message, text } = await exchange(url, {
    method: init.method ?? 'GET',
    headers: init.headers as Record<string, string>,
    body: (init.body as string | undefined) ?? '',
    signal: init.signal,
  })
  const headers = new Headers()
  for (const [name, value] of Object.entries(message.headersDistinct))
    for (const one of value ?? []) headers.append(name, one)
  return { status: message.statusCode, headers, text: async () => text } as Response
}

/** The `fetch` of clients in tests. While the event loop is measured it is the real one, whose JSON is known. */
export const testFetch = ((url: string, init: RequestInit) =>
  isCountingLoopWork() ? fetch(url, init) : quickFetch(url, init)) as typeof fetch
