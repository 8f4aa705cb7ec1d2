/** The baseline: Fastify with a JSON body in, a JSON answer out, and nothing else. */
import Fastify from 'fastify'

const app = Fastify({ keepAliveTimeout: 72_000 })
app.post('/echo', async (request) => ({
  result: { status: 'success', message: 'Echo.', data: request.body.data },
}))
app.get('/readyz', async () => ({}))
await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' })
process.send?.('ready')
