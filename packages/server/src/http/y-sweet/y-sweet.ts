import { ApiError } from '@plenum/protocol'
import { limits } from '@plenum/protocol/realtime'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../../config.ts'
import type { ApiKeyCheck } from '../api-key-check.ts'
import type { Bearer } from './bearer.ts'
import { collectBody } from '../bodies/body-bytes.ts'
import type { UnsentAnswers } from '../../platform/turns/unsent-answers.ts'
import { StartQueue } from '../../platform/turns/start-queue.ts'
import { type Reader, WholeDocuments } from './whole-documents.ts'
import { YSweetCalls, type YSweetDeps } from './y-sweet-calls.ts'

declare module 'fastify' {
  interface FastifyRequest {
    bearer: Bearer | undefined
  }
}

export interface YSweetMountDeps extends YSweetDeps {
  config: Config
  checkApiKey: ApiKeyCheck
  identify: (headers: FastifyRequest['headers']) => Promise<Bearer>
  unsentAnswers: UnsentAnswers
}

const root = '/y-sweet'

/** The calls without a `docId`, by method and path. */
const serverCalls = { 'POST check_store': 'checkStore', 'POST doc/new': 'newDocument' } as const
/** The calls whose path names a document, by method and the last part of the path. */
const documentCalls = {
  'POST auth': 'authorize',
  'GET as-update': 'asUpdate',
  'POST update': 'update',
} as const

/** The calls of `@y-sweet/sdk`. They are not operations of the interface: paths, bodies and answers are Y-Sweet's. */
export function mountYSweet(app: FastifyInstance, deps: YSweetMountDeps): void {
  const calls = new YSweetCalls(deps)
  const turns = new StartQueue({ startsUntilLate: true })
  const wholeDocuments = new WholeDocuments(deps.unsentAnswers)

  const answer = (request: FastifyRequest, reply: FastifyReply, bearer: Bearer): Promise<unknown> => {
    const { name, docId } = callOf(request)
    if (name === 'asUpdate') {
      return wholeDocuments.read(readerOf(bearer), reply.raw, () => calls.asUpdate(bearer, docId))
    }
    if (name === 'update') return calls.update(bearer, docId, updateIn(request.body))
    if (bearer.user !== 'backend') throw needsAuthToken()
    const { key } = bearer
    if (name === 'checkStore') return calls.checkStore()
    const input = request.body ?? {}
    if (name === 'newDocument') return calls.newDocument(key, input)
    return calls.authorize(
      key,
      docId,
      input,
      (scheme) => `${addressFor(request, deps.config, scheme)}${root}/d`,
    )
  }

  // Registered in a scope of its own, because only these routes accept Yjs updates as bodies.
  void app.register(async (scope) => {
    scope.decorateRequest('bearer', undefined)
    scope.addContentTypeParser('application/octet-stream', (request, payload, done) => {
      checkSize(Number(request.headers['content-length'] ?? 0))
      collectBody(payload, {
        check: checkSize,
        enterTurn: () => turns.enter(request.bearer?.key.apiKey ?? ''),
        done: (error, body) => done(error, body && Buffer.concat(body.chunks)),
      })
    })
    scope.route({
      method: ['GET', 'POST'],
      // A `docId` may have three parts, separated by `/`.
      url: `${root}/*`,
      exposeHeadRoute: false,
      async onRequest(request) {
        request.operationName = `ySweet.${callOf(request).name}`
        request.bearer = await deps.identify(request.headers)
        request.caller = await deps.checkApiKey(request.headers, request.bearer.key)
      },
      async handler(request, reply) {
        const bearer = request.bearer as Bearer
        const turn = turns.enter(bearer.key.apiKey)
        if (turn) await turn
        const body = await answer(request, reply, bearer)
        return reply.send(
          body instanceof Uint8Array ? Buffer.from(body.buffer, body.byteOffset, body.length) : body,
        )
      },
    })
  })
}

type Call =
  | { name: (typeof serverCalls)[keyof typeof serverCalls]; docId: '' }
  | { name: (typeof documentCalls)[keyof typeof documentCalls]; docId: string }

/** Finds the call by the raw path, because the parts of a `docId` are percent-encoded. Older SDKs send `doc` instead of `d`. */
function callOf({ method, url }: FastifyRequest): Call {
  const path = (url.split('?', 1)[0] ?? '').slice(root.length + 1)
  const serverCall = `${method} ${path}`
  if (isKey(serverCalls, serverCall)) return { name: serverCalls[serverCall], docId: '' }
  const [, docId = '', verb] = /^(?:doc|d)\/(.+)\/([^/]+)$/.exec(path) ?? []
  const documentCall = `${method} ${verb}`
  if (isKey(documentCalls, documentCall)) return { name: documentCalls[documentCall], docId }
  throw new ApiError('NOT_FOUND', 'Not found.')
}

const isKey = <T extends object>(table: T, key: PropertyKey): key is keyof T => Object.hasOwn(table, key)

const readerOf = ({ key, user }: Bearer): Reader => ({
  apiKey: key.apiKey,
  userId: user === 'backend' ? undefined : user.userId,
})

const needsAuthToken = () =>
  new ApiError('UNAUTHENTICATED', 'Only the auth token of the API key may be used here, not a client token.')

function checkSize(bytes: number): void {
  if (bytes <= limits.messageBytes) return
  throw new ApiError('INVALID_ARGUMENT', 'An update may have at most 1 MiB.', { httpStatus: 413 })
}

function updateIn(body: unknown): Uint8Array {
  if (body instanceof Uint8Array) return body
  throw new ApiError('INVALID_ARGUMENT', 'The body must be a Yjs update, as application/octet-stream.')
}

/**
 * The URL at which clients reach this server. That is the address in `PUBLIC_URL` which has the host of this request, else
 * the first one in `PUBLIC_URL`, else the address that the caller itself used.
 */
function addressFor({ headers }: FastifyRequest, config: Config, scheme: 'http' | 'ws'): string {
  const { publicOrigins, trustedProxyHops } = config
  const { host = '' } = headers
  const isForwarded = trustedProxyHops > 0 && headers['x-forwarded-proto'] === 'https'
  const callerOrigin = `${isForwarded ? 'https' : 'http'}://${host}`
  const origin = publicOrigins.find((one) => new URL(one).host === host) ?? publicOrigins[0] ?? callerOrigin
  return origin.replace(/^http/, scheme)
}
