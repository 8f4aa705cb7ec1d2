// For tests that send thousands of requests: `fetch` takes a multiple of the processor time. A test that measures the event
// loop uses `fetch`, because `countLoopWork` knows which JSON belongs to it.
import { Agent, request } from 'node:http'

export interface QuickAnswer {
  status: number
  body: any // eslint-disable-line typescript/no-explicit-any
}

// Its idle connections do not keep the process running.
const agent = new Agent({ keepAlive: true })

/** Sends a request and reads the JSON of the answer. */
export function quickRequest(
  url: string,
  method: 'GET' | 'POST',
  headers: Record<string, string>,
  body = '',
): Promise<QuickAnswer> {
  return new Promise((resolve, reject) => {
    const fields = method === 'POST' ? { ...headers, 'content-length': Buffer.byteLength(body) } : headers
    const sent = request(url, { method, agent, headers: fields }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part: string) => (text += part))
      response.on('error', reject)
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, body: text === '' ? undefined : JSON.parse(text) }),
      )
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

/** Like `post` of a server. */
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
