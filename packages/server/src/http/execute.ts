import { type Access, ApiError, type Operation, type Version } from '@plenum/protocol'
import { newId } from '../access/ids.ts'
import { createPages } from '../access/pages.ts'
import { type Call, type Callers, Reply, type Services } from '../handler.ts'
import type { Log } from '../platform/log.ts'
import type { ApiKey } from '../store/api-keys.ts'
import type { Database, Db } from '../store/db.ts'
import * as jobs from '../store/jobs.ts'
import { scopeOf } from './authenticate.ts'
import { type Answer, createIdempotency } from './idempotency.ts'

export interface Request {
  caller: Callers[Access]
  version: Version
  input: unknown
  idempotencyKey: string | undefined
  log: Log
}

export interface Executor {
  database: Database
  services: Services
  now: () => number
  /** A job was committed. */
  wakeJobs: () => void
}

type AnyHandler = (call: Call) => Promise<unknown>

/** Runs one operation: reads at once, writes in a transaction whose answer waits until it is durable. */
export function createExecute({ database, services, now, wakeJobs }: Executor) {
  const once = createIdempotency(database, services.secrets)

  return async (name: string, operation: Operation, handler: AnyHandler, request: Request): Promise<Answer> => {
    const { caller, version, input, idempotencyKey, log } = request
    const startedAt = now()
    let afterCommit: (() => void)[] = []

    const effect = async (db: Db): Promise<Answer> => {
      afterCommit = []
      const result = await handler({
        ...services,
        input: input as never,
        caller: caller as never,
        version,
        db,
        now: startedAt,
        log,
        get pages() {
          return createPages(services.secrets.pageTokenKey, scopeOf(operation.access, caller), name)
        },
        afterCommit: (work) => void afterCommit.push(work),
        async enqueue(kind, payload) {
          const { apiKey } = caller as ApiKey
          await jobs.add(db, { jobId: newId('job'), apiKey, kind, payload, now: startedAt })
          afterCommit.push(wakeJobs)
        },
      })
      return answer(operation, result)
    }

    if (operation.effect === 'read') return effect(database.read)

    const transaction = async (work: (db: Db) => Promise<Answer>) => {
      const done = await database.write(work)
      for (const work of afterCommit) work()
      return done
    }
    if (idempotencyKey === undefined) return transaction(effect)
    const id = { scope: scopeOf(operation.access, caller), operation: `${version} ${name}`, key: idempotencyKey }
    return once(id, JSON.stringify(input), startedAt, transaction, effect)
  }
}

function answer(operation: Operation, result: unknown): Answer {
  if (!(result instanceof Reply)) return success(operation.message, result)
  if (result.error instanceof ApiError) {
    return { httpStatus: result.error.httpStatus, body: JSON.stringify(result.error.toBody()) }
  }
  return success(result.message ?? operation.message, result.data, result.extra)
}

const success = (message: string, data: unknown, extra?: Readonly<Record<string, unknown>>): Answer => ({
  httpStatus: 200,
  body: JSON.stringify({ result: { status: 'success', message, data, ...extra } }),
})
