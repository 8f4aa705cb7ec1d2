import {
  request as requestHttp,
  type ClientRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIPv6, type LookupFunction } from 'node:net'
import type { Clock } from '../clock.ts'
import { createAddressRule, type PrivateAddresses } from './allowed-addresses.ts'
import { isOutgoingUrl } from './outgoing-urls.ts'
import { readBeginning, readWhole } from './read-answer.ts'
import { type Resolve, resolveHost, resolverFor, UrlRefused } from './resolve-host.ts'

export interface OutgoingPostDeps {
  clock: Clock
  privateAddresses: PrivateAddresses
  /** CIDR ranges that are allowed although they are not public. Default: none. */
  allowedRanges?: readonly string[]
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
  /**
   * Set if the status of the answer is enough: the answer is read for so long after its headers, up to `maxAnswerBytes`, and
   * the rest is left. Default: a body that is too large or incomplete when the timeout ends is no answer.
   */
  cutAnswerAfterMs?: number
  /** Ends the request. */
  signal: AbortSignal
}

export interface OutgoingAnswer {
  status: number
  body: Buffer
}

/**
 * Sends JSON to a URL that a tenant chose. Connects only to public addresses, unless the operator allows others, and to the
 * addresses that were checked. Follows no redirect: its target was not checked. Rejects if there is no answer.
 */
export type OutgoingPost = (request: OutgoingRequest) => Promise<OutgoingAnswer>

/** Each request has its own connection, because a kept one could lead to an address that is refused by now. */
export function createOutgoingPost(deps: OutgoingPostDeps): OutgoingPost {
  const { clock, privateAddresses, allowedRanges, send = sendByNode } = deps
  const isAllowed = createAddressRule(privateAddresses, allowedRanges)
  const resolve = deps.resolve ?? resolverFor(privateAddresses)

  return async ({ url, headers, body, timeoutMs, maxAnswerBytes, cutAnswerAfterMs, signal }) => {
    if (!isOutgoingUrl(url.href)) throw new UrlRefused('The server does not call URLs of this kind.')
    const end = new AbortController()
    const ended = end.signal
    const onTimeout = () => end.abort(new Error(`No answer within ${timeoutMs} ms.`))
    const stopTimer = clock.setTimeout(onTimeout, timeoutMs)
    const onAbort = () => end.abort(signal.reason)
    signal.addEventListener('abort', onAbort)
    const read = (response: IncomingMessage) => {
      if (cutAnswerAfterMs === undefined) return readWhole(response, maxAnswerBytes)
      // The status is known, so neither the timeout nor `signal` makes this a failure any more.
      stopTimer()
      signal.removeEventListener('abort', onAbort)
      return readBeginning(response, maxAnswerBytes, clock, cutAnswerAfterMs)
    }
    try {
      const addresses = await untilAborted(resolveHost(url, isAllowed, resolve), ended)
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
          const { statusCode: status = 0 } = response
          read(response).then((body) => onAnswer({ status, body }), onError)
        })
        // Without a listener, Node closes the connection and the request ends without any event.
        request.on('upgrade', ({ statusCode: status = 0 }, socket) => {
          socket.destroy()
          onAnswer({ status, body: Buffer.alloc(0) })
        })
        request.end(body)
      })
      return await untilAborted(answer, ended)
    } finally {
      stopTimer()
      signal.removeEventListener('abort', onAbort)
    }
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
