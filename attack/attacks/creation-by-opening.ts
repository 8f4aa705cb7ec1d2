import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { WebSocket } from 'ws'
import type { Attack } from '../attack.ts'

/** Far more than the default LIMIT_CREATED_BY_OPENING_PER_MINUTE allows one user. */
const maxOrganizations = 500

/** A viewer of one document opens documents of organizations that do not exist, as fast as the server answers. */
export const creationByOpening: Attack = {
  name: 'a viewer who creates organizations by opening documents',
  async prepare({ url, attacker, size }) {
    const { client } = attacker
    await client.documents.add({
      organizationId: 'org_1',
      createOrganization: true,
      documents: [{ documentId: 'doc_1' }],
    })
    const { data } = await client.auth.generateToken({
      userId: 'mallory',
      userProperties: { name: 'Mallory', email: 'mallory@example.com' },
      permissions: {
        resources: [{ type: 'document', id: 'doc_1', organizationId: 'org_1', accessRole: 'viewer' }],
      },
    })
    const address = `${url.replace(/^http/, 'ws')}/realtime?token=${data.token}`
    const [socketCount, durationMs] = size === 'short' ? [4, 1_500] : [8, 10_000]
    return async () => {
      let isOver = false
      const openAll = async (_: unknown, socketNumber: number) => {
        const socket = new WebSocket(address)
        await once(socket, 'open')
        let next = 1
        const open = () => {
          const ref = next++
          const organizationId = `org_${socketNumber}_${ref}`
          socket.send(JSON.stringify({ type: 'open', ref, organizationId, documentId: 'doc', topics: [] }))
        }
        socket.on('message', (message: Buffer) => {
          const { type, ref } = JSON.parse(message.toString()) as { type: string; ref?: number }
          if (isOver || ref === undefined) return
          if (type === 'opened') socket.send(JSON.stringify({ type: 'close', ref }))
          open()
        })
        for (let opened = 0; opened < 50; opened++) open()
        await pause(durationMs)
        socket.terminate()
      }
      await Promise.all(Array.from({ length: socketCount }, openAll))
      isOver = true
      const { data: created } = await client.organizations.get({ pageSize: 1000 })
      if (created.length > maxOrganizations) {
        throw new Error(`Opening documents created at least ${created.length} organizations.`)
      }
    }
  },
}
