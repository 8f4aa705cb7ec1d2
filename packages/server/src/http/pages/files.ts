import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip as gzipWithCallback } from 'node:zlib'
import type { FastifyInstance } from 'fastify'

const gzip = promisify(gzipWithCallback)

interface File {
  type: string
  load: () => string | Promise<string>
  headers?: Record<string, string>
}

/**
 * Serves text that never changes while the server runs. The text is loaded and compressed on the first request, then
 * cached.
 */
export function serveFile(app: FastifyInstance, url: string, { type, load, headers = {} }: File): void {
  const prepare = async () => {
    const text = await load()
    return { text, packed: await gzip(text, { level: 9 }), etag: `W/"${hash('sha256', text).slice(0, 32)}"` }
  }
  let cached: ReturnType<typeof prepare> | undefined

  app.get(url, async (request, reply) => {
    cached ??= prepare()
    const { text, packed, etag } = await cached.catch((error: unknown) => {
      cached = undefined
      throw error
    })
    reply.headers({ ...headers, etag, 'cache-control': 'no-cache' })
    // CORS may have set `vary` already.
    reply.header('vary', [reply.getHeader('vary'), 'accept-encoding'].filter(Boolean).join(', '))
    if (request.headers['if-none-match'] === etag) return reply.code(304).send()
    reply.type(type)
    if (!/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) return reply.send(text)
    return reply.header('content-encoding', 'gzip').send(packed)
  })
}
