import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** A proxy on this machine that can refuse connections, and that can fall silent without closing them. */
export async function startFaultyProxy(targetUrl: string) {
  const target = new URL(targetUrl)
  const sockets = new Set<Socket>()
  const clients = new Set<Socket>()
  let mode: 'open' | 'silent' | 'refusing' = 'open'
  const proxy = createServer((near) => {
    if (mode === 'refusing') return void near.destroy()
    clients.add(near)
    near.on('close', () => clients.delete(near))
    const far = connect(Number(target.port), target.hostname)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('error', () => {})
      from.on('close', () => {
        sockets.delete(from)
        if (mode === 'open') to.destroy()
      })
      from.on('data', (data) => {
        if (mode === 'open') to.write(data)
      })
    }
    return undefined
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  onTestFinished(() => {
    proxy.close()
    for (const socket of sockets) socket.destroy()
  })
  const { port } = proxy.address() as AddressInfo
  return {
    url: Object.assign(new URL(targetUrl), { port }).href,
    /** From now on connections stay open, and pass no bytes. */
    silence: () => void (mode = 'silent'),
    refuse: () => void (mode = 'refusing'),
    open: () => void (mode = 'open'),
    /** How many clients are connected. */
    openConnections: () => clients.size,
  }
}
