import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Config } from '../../config.ts'
import { type Finding, failed, ok } from './check.ts'

const answerTimeoutMs = 3000

/** Whether the server can listen, or already does. */
export async function checkPort({ host, port }: Config): Promise<Finding[]> {
  if (port === 0) return [ok('port', 'any free port')]
  const address = host === 'localhost' ? '127.0.0.1' : host
  const server = createServer()
  try {
    server.listen(port, address)
    await once(server, 'listening')
    return [ok('port', `${port} on ${host} is free`)]
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code !== 'EADDRINUSE')
      return [failed('port', message, 'Set HOST and PORT to an address of this machine.')]
    if (await isPlenum(address, port)) return [ok('port', `a Plenum server answers on ${port}`)]
    return [failed('port', `another program uses ${port} on ${host}`, 'Stop it, or set PORT to another one.')]
  } finally {
    server.close()
  }
}

async function isPlenum(host: string, port: number): Promise<boolean> {
  const reached = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  try {
    const url = `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}/healthz`
    const response = await fetch(url, { signal: AbortSignal.timeout(answerTimeoutMs) })
    return typeof ((await response.json()) as { durability?: unknown }).durability === 'string'
  } catch {
    return false
  }
}
