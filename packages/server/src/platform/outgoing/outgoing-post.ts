import { request as requestHttp, type ClientRequest, type RequestOptions } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIPv6, type LookupFunction } from 'node:net'
import type { Clock } from '../clock.ts'
import { allowedAddresses, type PrivateAddresses, type Resolve } from './resolve-host.ts'

export interface OutgoingPostDeps {
  clock: Clock
  privateAddresses: PrivateAddresses
  /** Default: DNS. */
  resolve?: Resolve | undefined
  /** Opens the connection and sends the headers. Default: Node's http or https. */
  send?: ((url: URL, options: RequestOptions) => ClientRequest) | undefined
}

export interface OutgoingRequest {
  url: URL
  headers: Record<string, string>
  body: string
  /** For everything: name, connection, request and answer. */
  timeoutMs: number
  maxAnswerBytes: number
  /** Ends the request. */
  signal: AbortSignal
}

export interface OutgoingAnswer {
  status: number
  body: Buffer
}

export class AnswerTooLarge extends Error {
  override name = 'AnswerTooLarge'
}

/**
 * Sends JSON to a URL that a tenant chose. Connects only to public addresses, unless the operator allows private ones, and
 * to the addresses that were checked. Follows no redirect: its target was not checked. Rejects if there is no answer.
 */
export type OutgoingPost = (request: OutgoingRequest) => Promise<OutgoingAnswer>

/** Each request has its own connection, because a kept one could lead to an address that is refused by now. */
export const createOutgoingPost =
  ({ clock, privateAddresses, resolve, send = sendByNode }: OutgoingPostDeps): OutgoingPost =>
  async ({ url, headers, body, timeoutMs, maxAnswerBytes, signal }) => {
    const end = new AbortController()
    const ended = end.signal
    const onTimeout = () => end.abort(new Error(`No answer within ${timeoutMs} ms.`))
    const stopTimer = clock.setTimeout(onTimeout, timeoutMs)
    const onAbort = () => end.abort(signal.reason)
    signal.addEventListener('abort', onAbort)
    try {
      const addresses = await untilAborted(allowedAddresses(url, privateAddresses, resolve), ended)
      const answer = new Promise<OutgoingAnswer>((onAnswer, onError) => {
        const request = send(url, {
          method: 'POST',
          agent: false,
          lookup: lookupOf(addresses),
          signal: ended,
          headers: {
            ...headers,
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(body),
          },
        })
        request.on('error', onError)
        request.on('response', (response) => {
          const chunks: Buffer[] = []
          let bytes = 0
          response.on('error', onError)
          response.on('data', (chunk: Buffer) => {
            bytes += chunk.length
            if (bytes > maxAnswerBytes) {
              response.destroy(new AnswerTooLarge(`The answer has more than ${maxAnswerBytes} bytes.`))
            } else chunks.push(chunk)
          })
          response.on('end', () =>
            onAnswer({ status: response.statusCode ?? 0, body: Buffer.concat(chunks) }),
          )
        })
        request.end(body)
      })
      return await untilAborted(answer, ended)
    } finally {
      stopTimer()
      signal.removeEventListener('abort', onAbort)
    }
  }

const sendByNode = (url: URL, options: RequestOptions) =>
  (url.protocol === 'https:' ? requestHttps : requestHttp)(url, options)

/** A lookup that returns these addresses for every name. */
const lookupOf =
  (addresses: readonly string[]): LookupFunction =>
  (_hostname, { all }, callback) => {
    const found = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }))
    const [first] = found
    if (all || !first) callback(null, found)
    else callback(null, first.address, first.family)
  }

/** Rejects with the reason of the signal as soon as it is aborted. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((onDone, onFailed) => {
    const onAbort = () => onFailed(signal.reason)
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    work.then(onDone, onFailed).finally(() => signal.removeEventListener('abort', onAbort))
  })
}
