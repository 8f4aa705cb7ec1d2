import { join } from 'node:path'
import { createDocuments } from './documents.ts'
import type { Result, Scene } from './fault.ts'
import { compareWithStored } from './oracle.ts'
import { Observers } from './observers.ts'
import { RevokedUsers } from './revoked-user.ts'
import type { ServerProcess } from '../packages/server/test/support/processes/server-process.ts'
import type { WriterReport } from './writers.ts'

/** What a fault does while clients write. */
export interface FaultSteps {
  begin(observers: Observers): Promise<unknown>
  /** Ends the fault. Default: nothing is left to end. */
  end?(observers: Observers): Promise<unknown>
  /** Whether clients go on before `end`. Then they must have the same content before it. */
  isTolerated?: boolean
  /** A server that does not answer while the fault lasts. */
  stuck?: ServerProcess | undefined
  /** When access is taken away. Default: afterwards. */
  revokes?: 'while it lasts' | 'afterwards'
  /** From how many users. Default: 1. */
  revokedUsers?: number
  /** Looks at what the writers have noticed. Returns what was not as promised. */
  check?(report: WriterReport): string[]
}

/** Clients that have not gone on after this time are reported. */
const resumeLimitMs = 40_000

/** Makes a fault while many clients write, and compares what they were told with what is stored. */
export async function underLoad(scene: Scene, steps: FaultSteps): Promise<Result> {
  const { cluster, writers, random, name, writes, limitMs } = scene
  const { stuck, isTolerated = false, revokes = 'afterwards', revokedUsers = 1 } = steps
  const problems: string[] = []
  const documentIds = Array.from({ length: 4 }, (_, index) => `${name}-${index}`)
  const log = join(cluster.folder, `${name}.log`)
  await createDocuments(cluster, documentIds)
  const observers = new Observers(cluster, documentIds[0] as string)
  const revoked = new RevokedUsers(cluster, `${name}-revoked`, revokedUsers)
  let hasBegun = false
  const end = async () => {
    hasBegun = false
    await steps.end?.(observers)
    if (stuck) cluster.drained.delete(stuck)
  }
  try {
    await observers.synced()
    startWriters(scene, documentIds, log)
    if (revokes === 'while it lasts') await revoked.open()
    // The moment of the fault is random, and slow machines write as much before it as fast ones.
    await writers.hasAcknowledged(Math.ceil(writes / 3) + random(Math.ceil(writes / 3)), resumeLimitMs)
    if (stuck) cluster.drained.add(stuck)
    hasBegun = true
    await steps.begin(observers)
    if (revokes === 'while it lasts') await revoked.revoke(limitMs, stuck)
    if (!isTolerated) await end()
    if (!(await writers.hasAcknowledged(writers.acknowledged + writes / 6, resumeLimitMs)))
      problems.push('clients could not go on')
    const report = await writers.stop()
    problems.push(...unexpected(report), ...(steps.check?.(report) ?? []))
    const convergeMs = await observers.converge(limitMs)
    if (convergeMs === undefined) problems.push('clients did not get the same content')
    if (isTolerated) await end()
    if (revokes === 'afterwards') {
      await revoked.open()
      await revoked.revoke(limitMs)
    }
    problems.push(...(await revoked.problems(limitMs)))
    observers.close()
    const verdict = await cluster.withFreshServer((url) => compareWithStored(cluster, url, log))
    return {
      acknowledged: verdict.acknowledged,
      lost: verdict.lost.length,
      duplicated: verdict.duplicated.length,
      ...(convergeMs !== undefined && { convergeMs }),
      ...(revoked.tookMs !== undefined && { revokeMs: revoked.tookMs }),
      problems,
    }
  } finally {
    // A trial that fails leaves PostgreSQL and Redis as they were for the next one.
    if (hasBegun) await end()
    observers.close()
    revoked.close()
  }
}

/** Errors that a fault does not explain. */
const unexpected = ({ failures }: WriterReport): string[] =>
  failures
    .filter(({ status }) => !['UNAVAILABLE', 'ABORTED', 'DEADLINE_EXCEEDED'].includes(status))
    .map(({ status, message }) => `${status} ${message}`)
    .slice(0, 1)

function startWriters(scene: Scene, documentIds: string[], log: string): void {
  const { cluster, writers, random, job } = scene
  const { apiKey, authToken } = cluster.tenant
  writers.start({
    url: cluster.balancer.url,
    token: cluster.token,
    apiKey,
    authToken,
    documentIds,
    sessionsPerDocument: 4,
    maxInFlight: 4,
    paddingLength: 0,
    backends: 1,
    log,
    seed: random(2 ** 31),
    countsSent: false,
    ...job,
  })
}
