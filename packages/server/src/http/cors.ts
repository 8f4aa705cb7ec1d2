import { ApiError } from '@plenum/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { originAllowed } from '../access/domains/domains.ts'
import { isOwnPage, type Page } from '../access/domains/origins.ts'

const allowedHeaders =
  'authorization, content-type, x-svc-api-key, x-svc-auth-token, x-svc-workspace-id, x-svc-workspace-auth-token, idempotency-key'
const exposedHeaders = 'idempotent-replayed, retry-after, x-request-id'

/** Throws unless the domain of the page is allowed for the API key (spec 2) or the page belongs to the server itself. */
export function checkOrigin(
  page: Page & { origin: string },
  publicOrigins: readonly string[],
  allowedDomains: readonly string[],
): void {
  if (isOwnPage(page, publicOrigins) || originAllowed(page.origin, allowedDomains)) return
  throw new ApiError(
    'PERMISSION_DENIED',
    'This origin is not among the allowed domains of the API key. Add it with /v2/workspace/domains/add.',
  )
}

/**
 * Sets the CORS headers. Returns true if the request was a preflight, which is answered then. Allowing every origin is safe
 * here, because no cookie carries a credential. `checkOrigin` checks the origin later.
 */
export function answerBrowser(origin: string, request: FastifyRequest, reply: FastifyReply): boolean {
  reply.header('access-control-allow-origin', origin).header('vary', 'origin')
  if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined) {
    reply.header('access-control-expose-headers', exposedHeaders)
    return false
  }
  void reply
    .header('access-control-allow-methods', 'POST, GET')
    .header('access-control-allow-headers', allowedHeaders)
    .header('access-control-max-age', '86400')
    .code(204)
    .send()
  return true
}
