import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { Attack, Scene } from './attack.ts'
import type { Report, Target } from './bystander.ts'
import { startServer } from './server.ts'
import { createTenant } from './tenant.ts'

export interface Measurement extends Report {
  /** The longest time that the event loop was held, in processor time. */
  loopMs: number
  /** Peak memory of the server above its memory before the attack. */
  grownMegabytes: number
}

/** Runs one attack on a new server while a bystander uses it. */
export async function measure(
  attack: Attack,
  { main, databaseUrl, size }: { main: string; databaseUrl: string | undefined; size: Scene['size'] },
): Promise<Measurement> {
  const server = await startServer(main, databaseUrl)
  const { url, pid } = server
  const bystander = fork(new URL('./bystander.ts', import.meta.url), {
    execArgv: ['--conditions=plenum-source', '--import', 'tsx'],
  })
  const exited = once(bystander, 'exit').then(() => {
    throw new Error('The bystander process exited before it reported.')
  })
  exited.catch(() => {})
  const ask = async <T>(message: string | Target) => {
    bystander.send(message)
    const [value] = (await Promise.race([once(bystander, 'message'), exited])) as [T]
    return value
  }
  try {
    await ask({ url, pid })
    const attacker = await createTenant(url, 'attacker@example.com')
    const database = databaseUrl === undefined ? 'sqlite' : 'postgres'
    const run = await attack.prepare({ url, database, attacker, size })
    const megabytesBefore = server.residentMegabytes()
    // Discards the time that the preparation held the event loop.
    await server.longestLoopMs()
    bystander.send('begin')
    await run()
    const report = await ask<Report>('end')
    return {
      ...report,
      loopMs: await server.longestLoopMs(),
      grownMegabytes: Math.max(0, server.peakMegabytes() - megabytesBefore),
    }
  } finally {
    bystander.kill()
    await server.stop()
  }
}
