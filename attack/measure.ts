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

/** A server, and a bystander that uses it while it is attacked. */
export interface Experiment {
  /** Attacks the server as a new tenant, and returns what the bystander noticed. */
  run(attack: Attack, size: Scene['size']): Promise<Measurement>
  stop(): Promise<void>
}

export async function startExperiment(
  databaseUrl: string | undefined,
  heapMegabytes?: number,
): Promise<Experiment> {
  const server = await startServer(databaseUrl, heapMegabytes)
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
  const stop = async () => {
    bystander.kill()
    await server.stop()
  }
  try {
    await ask({ url, pid })
  } catch (error) {
    await stop()
    throw error
  }
  let attacks = 0
  return {
    async run(attack, size) {
      const attacker = await createTenant(url, `attacker${++attacks}@example.com`)
      const database = databaseUrl === undefined ? 'sqlite' : 'postgres'
      const run = await attack.prepare({ url, database, attacker, size })
      server.forgetPeak()
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
    },
    stop,
  }
}
