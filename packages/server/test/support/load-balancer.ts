import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { onTestFinished } from 'vitest'

/** A TCP proxy, as a load balancer without sticky sessions. It passes new connections to the server that was set last. */
export async function startLoadBalancer(serverUrl: string) {
  let target = new URL(serverUrl)
  const proxy = createServer((near) => {
    const far = connect(Number(target.port), target.hostname)
    near.pipe(far).pipe(near)
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on('error', () => other.destroy())
      one.on('close', () => other.destroy())
    }
    onTestFinished(() => void near.destroy())
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  onTestFinished(() => void proxy.close())
  const { port } = proxy.address() as { port: number }
  return {
    url: `http://127.0.0.1:${port}`,
    sendTo: (url: string) => void (target = new URL(url)),
  }
}
