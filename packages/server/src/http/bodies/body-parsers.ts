import { ApiError } from '@plenum/protocol'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Config } from '../../config.ts'
import { readBody } from './body.ts'
import { type BodyBytes, collectBody, endedEarly } from './body-bytes.ts'
import { bodyTooLargeFor } from '../errors.ts'
import { StartQueue } from '../../platform/turns/start-queue.ts'

/** Adds the parser of JSON bodies, which enforces the limits, and refuses bodies of other content types. */
export function mountBodyParsers(app: FastifyInstance, settings: Config['limits']): void {
  const { jsonDepth, jsonKeys, jsonValues, bodyBytes, crdtBodyBytes } = settings
  const limits = { maxDepth: jsonDepth, maxKeys: jsonKeys, maxValues: jsonValues, maxBytes: bodyBytes }
  // Bodies up to this size are checked without `routeOptions`, which Fastify builds again on each access.
  const minBodyLimit = Math.min(bodyBytes, crdtBodyBytes)
  const turns = new StartQueue({ startsUntilLate: true })
  app.removeAllContentTypeParsers()

  app.addContentTypeParser('application/json', (request, payload, done) => {
    const check = (length: number) => {
      if (length <= minBodyLimit) return
      if (length > request.routeOptions.bodyLimit) throw bodyTooLargeFor(request)
    }
    const enterTurn = () => turns.enter(callerOf(request))
    const read = (body: BodyBytes) =>
      readBody(body, request.headers['content-encoding'], limits, () => ({
        keepsDataUnparsed: request.routeOptions.config.keepsDataUnparsed === true,
        enterTurn,
      }))
    const collected = (failure: Error | null, body?: BodyBytes) => {
      try {
        if (failure) throw failure
        const found = read(body as BodyBytes)
        if (found instanceof Promise) found.then((value) => done(null, value), done)
        else done(null, found)
      } catch (error) {
        done(error as Error)
      }
    }
    check(Number(request.headers['content-length'] ?? 0))
    collectBody(payload, { check, enterTurn, done: collected })
  })

  // A request without a body may have any content type.
  app.addContentTypeParser('*', (_request, payload, done) => {
    let isEmpty = true
    const end = () => {
      payload.off('error', fail)
      if (isEmpty) done(null, undefined)
      else done(new ApiError('INVALID_ARGUMENT', 'Content-Type must be application/json.'))
    }
    const fail = () => {
      payload.off('end', end)
      done(endedEarly())
    }
    payload.on('data', () => (isEmpty = false))
    payload.once('end', end).once('error', fail)
  })
}

/** The caller in whose turn the body is read. While the credentials are in the unread body, that is the client's address. */
function callerOf({ caller, ip }: FastifyRequest): string {
  const { apiKey, workspaceId, address = ip } = { ...caller } as Partial<Record<string, string>>
  return apiKey ?? workspaceId ?? address
}
