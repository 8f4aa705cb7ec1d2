import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import * as given from '../support/given.ts'
import { anyStore, useServer } from '../support/harness.ts'
import { tokenFor } from '../support/access/user-tokens.ts'

const place = { organizationId: 'org_1', documentId: 'doc_1' }
const server = useServer(anyStore)

test('[S5.7] [9.2.3] clients that read nothing of their large answers are disconnected after 10 s, and do not hold up the other large answers of their API key for longer', async () => {
  const tenant = await given.tenant(server)
  await given.document(tenant, 'doc_1')
  const comment = { commentText: 'x'.repeat(9_000), from: { userId: 'ada' } }
  const commentAnnotations = Array.from({ length: 25 }, () => ({
    commentData: Array.from({ length: 4 }, () => comment),
  }))
  for (let count = 0; count < 48; count++)
    await tenant.client.commentAnnotations.add({ ...place, commentAnnotations })

  const { hostname, port } = new URL(server.url)
  const stall = async (userId: string) => {
    const token = await tokenFor(tenant, userId)
    const body = JSON.stringify({ data: place })
    const socket = connect(Number(port), hostname).pause()
    socket.on('error', () => {})
    await once(socket, 'connect')
    socket.write(
      [
        'POST /v1/commentannotations/get HTTP/1.1',
        'host: 127.0.0.1',
        `authorization: Bearer ${token}`,
        'content-type: application/json',
        `content-length: ${body.length}`,
        '',
        body,
      ].join('\r\n'),
    )
    return socket
  }
  // 44 MB each: the kernel may take 36 MB of them.
  const stalled = await Promise.all([stall('ada'), stall('eve')])
  const bob = server.client({ token: await tokenFor(tenant, 'bob') })
  const { data } = await bob.commentAnnotations.get(place, { version: 'v1' })
  expect(data).toHaveLength(1200)
  for (const socket of stalled) {
    let bytes = 0
    socket.on('data', (part) => (bytes += part.length))
    await once(socket.resume(), 'close')
    expect(bytes).toBeGreaterThan(0)
    expect(bytes).toBeLessThan(44_000_000)
  }
})
