import { newId } from '../../access/ids.ts'
import type { Secrets } from '../../access/credentials/secrets.ts'
import * as apiKeys from '../../store/api-keys.ts'
import { runSteps, type RowStep } from '../../store/deletions/row-step.ts'
import type { Db } from '../../store/engine/db.ts'
import * as erasures from '../../store/erasures/erasures.ts'
import type { Erasure, ErasurePosition } from '../../store/erasures/erasures.ts'
import { replaceAnswers } from '../../store/erasures/erased-answers.ts'
import { removeDeliveries } from '../../store/erasures/erased-deliveries.ts'
import { emptyEvents } from '../../store/erasures/erased-events.ts'
import { idsOf, removeAccess, removeUserRows } from '../../store/erasures/user-rows.ts'
import * as jobs from '../../store/jobs.ts'
import * as users from '../../store/users/users.ts'
import { changeInStep } from '../../threads/change-in-step.ts'
import type { ThreadContext } from '../../threads/thread-changes.ts'
import type { JobHandler } from '../job.ts'
import { answerSeals } from './answer-seals.ts'
import { commentStep, threadSteps } from './thread-steps.ts'

export interface ErasureDeps {
  /** Seals the stored answers of requests. */
  secrets: Secrets
  /** Starts the recorded deletions that no server works on. */
  resumeDeletions: () => void
}

/** After this time other jobs run. */
const maxSliceMs = 2_000
const hourMs = 60 * 60 * 1000

/**
 * Erases all data of users (spec 14.2). The erasure is a list of short steps, organization by organization. Each transaction
 * does some of them and stores where the next one continues, so an erasure that was interrupted loses nothing.
 */
export const eraseUsers = (deps: ErasureDeps): JobHandler<'users.erase'> => ({
  async run({ database, job, clock, signals, wake }) {
    const { apiKey, payload } = job
    const caller = (await apiKeys.find(database.read, apiKey))?.key
    if (!caller) return
    const wakeJobs = (_: string, lane = '') => wake(lane)
    const step = {
      caller,
      services: { wakeJobs, resumeDeletions: deps.resumeDeletions, writeStep: database.write },
    }
    const eraseMore = async (context: ThreadContext): Promise<State> => {
      const erasure = await erasures.find(context.db, apiKey, payload.erasureId)
      if (!erasure || erasure.isCompleted) return 'completed'
      // A server died between this and the end.
      if (erasure.userIds.length === 0) return 'erased'
      await jobs.recordProgress(context.db, job, context.now)
      return eraseSome(context, deps, erasure)
    }
    const endsAt = clock.elapsed() + maxSliceMs
    do {
      const state = await changeInStep({ ...step, now: clock.now() }, eraseMore, signals)
      if (state === 'erased') {
        await database.emptyLog()
        await database.write((db) => erasures.complete(db, apiKey, payload, clock.now()), apiKey)
      }
      if (state !== 'unfinished') return
    } while (clock.elapsed() < endsAt)
    return 'unfinished'
  },

  // What the users were promised must happen, so the erasure is never given up.
  async abandon({ database, job: { apiKey, payload }, now }) {
    const job = {
      jobId: newId('job'),
      apiKey,
      kind: 'users.erase' as const,
      payload,
      now,
      runAt: now + hourMs,
    }
    await database.write((db) => jobs.add(db, job), apiKey)
  },
})

/** `erased`: no row is left, but perhaps copies of rows in the files of the database. */
type State = 'unfinished' | 'erased' | 'completed'

/** Does some steps. */
async function eraseSome(context: ThreadContext, deps: ErasureDeps, erasure: Erasure): Promise<State> {
  const { caller, db, now } = context
  const { apiKey } = caller
  const position = erasure.position ?? (await startOf(db, apiKey, erasure, ''))
  const { organizationId } = position
  const profiles = await users.findMany(db, apiKey, erasure.userIds)
  const addresses = [...profiles.values()].flatMap(({ email }) => email ?? [])
  const steps = stepsIn(context, deps, { ...erasure, addresses }, organizationId)
  const rest = await runSteps(db, steps, position, [])
  if (rest) {
    await erasures.savePosition(db, apiKey, erasure, { organizationId, ...rest })
    return 'unfinished'
  }
  if (organizationId !== undefined) {
    await erasures.savePosition(db, apiKey, erasure, await startOf(db, apiKey, erasure, organizationId))
    await erasures.completeTasks(db, apiKey, erasure, now)
    return 'unfinished'
  }
  // Last, because the address in a profile finds notifications.
  if (erasure.organizationIds) await users.removeWithoutGrants(db, apiKey, erasure.userIds)
  else await users.remove(db, apiKey, erasure.userIds)
  await erasures.forgetUsers(db, apiKey, erasure)
  return 'erased'
}

async function startOf(db: Db, apiKey: string, erasure: Erasure, after: string): Promise<ErasurePosition> {
  return { organizationId: await erasures.nextOrganization(db, apiKey, erasure, after), step: 0 }
}

/** The steps in an organization, or behind all organizations: events and deliveries belong to the API key. */
function stepsIn(
  context: ThreadContext,
  { secrets }: ErasureDeps,
  erasure: Erasure & { addresses: readonly string[] },
  organizationId: string | undefined,
): RowStep[] {
  const { caller, now, signal } = context
  const { apiKey } = caller
  const { userIds, addresses, organizationIds } = erasure
  if (organizationId === undefined) {
    const named = idsOf(erasure)
    return [
      emptyEvents(apiKey, named, organizationIds),
      ...removeDeliveries(apiKey, named, organizationIds),
      replaceAnswers(apiKey, named, answerSeals(secrets), { isEverywhere: organizationIds === undefined }),
    ]
  }
  const erased = { apiKey, organizationId, userIds, addresses }
  const onRemoved = () => signal({ kind: 'access', userIds })
  return [
    ...removeAccess(erased, { isNamed: organizationIds !== undefined, now, onRemoved }),
    ...threadSteps(context, erased),
    ...removeUserRows(erased, (documentId, left) =>
      signal({ kind: 'presence', organizationId, documentId, userIds: left, removed: true }),
    ),
    // The last one: an erasure that an earlier version has begun continues at the number of a step.
    commentStep(context, erased),
  ]
}
