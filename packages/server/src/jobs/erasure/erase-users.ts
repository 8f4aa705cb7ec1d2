import { newId } from '../../access/ids.ts'
import * as apiKeys from '../../store/api-keys.ts'
import { runSteps, type RowStep } from '../../store/deletions/row-step.ts'
import type { Db } from '../../store/engine/db.ts'
import * as erasures from '../../store/erasures/erasures.ts'
import type { Erasure, ErasurePosition } from '../../store/erasures/erasures.ts'
import { removeDeliveries } from '../../store/erasures/erased-deliveries.ts'
import { emptyEvents } from '../../store/erasures/erased-events.ts'
import { removeAccess, removeUserRows } from '../../store/erasures/user-rows.ts'
import * as jobs from '../../store/jobs.ts'
import * as users from '../../store/users/users.ts'
import { changeInStep } from '../../threads/change-in-step.ts'
import type { ThreadContext } from '../../threads/thread-changes.ts'
import type { JobHandler } from '../job.ts'
import { threadSteps } from './thread-steps.ts'

export interface ErasureDeps {
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
export const eraseUsers = ({ resumeDeletions }: ErasureDeps): JobHandler<'users.erase'> => ({
  async run({ database, job, clock, signals, wake }) {
    const { apiKey, payload } = job
    const caller = (await apiKeys.find(database.read, apiKey))?.key
    if (!caller) return
    const wakeJobs = (_: string, lane = '') => wake(lane)
    const step = { caller, services: { wakeJobs, resumeDeletions, writeStep: database.write } }
    const eraseMore = async (context: ThreadContext) => {
      const erasure = await erasures.find(context.db, apiKey, payload.erasureId)
      if (!erasure || erasure.isCompleted) return true
      await jobs.recordProgress(context.db, job, context.now)
      return eraseSome(context, erasure)
    }
    const endsAt = clock.elapsed() + maxSliceMs
    do {
      const isCompleted = await changeInStep({ ...step, now: clock.now() }, eraseMore, signals)
      if (isCompleted) return
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

/** Does some steps. Returns true when the erasure is complete. */
async function eraseSome(context: ThreadContext, erasure: Erasure): Promise<boolean> {
  const { caller, db, now } = context
  const { apiKey } = caller
  const position = erasure.position ?? (await startOf(db, apiKey, erasure, ''))
  const { organizationId } = position
  const rest = await runSteps(db, stepsIn(context, erasure, organizationId), position, [])
  if (rest) {
    await erasures.savePosition(db, apiKey, erasure, { organizationId, ...rest })
    return false
  }
  if (organizationId !== undefined) {
    await erasures.savePosition(db, apiKey, erasure, await startOf(db, apiKey, erasure, organizationId))
    await erasures.completeTasks(db, apiKey, erasure, now)
    return false
  }
  // Last, because the address in a profile finds notifications.
  if (erasure.organizationIds) await users.removeWithoutGrants(db, apiKey, erasure.userIds)
  else await users.remove(db, apiKey, erasure.userIds)
  await erasures.complete(db, apiKey, erasure, now)
  return true
}

async function startOf(db: Db, apiKey: string, erasure: Erasure, after: string): Promise<ErasurePosition> {
  return { organizationId: await erasures.nextOrganization(db, apiKey, erasure, after), step: 0 }
}

/** The steps in an organization, or behind all organizations: events and deliveries belong to the API key. */
function stepsIn(context: ThreadContext, erasure: Erasure, organizationId: string | undefined): RowStep[] {
  const { caller, now, signal } = context
  const { apiKey } = caller
  const { userIds, organizationIds } = erasure
  if (organizationId === undefined) {
    const erased = [apiKey, userIds, organizationIds] as const
    return [emptyEvents(...erased), ...removeDeliveries(...erased)]
  }
  const erased = { apiKey, organizationId, userIds }
  const onRemoved = () => signal({ kind: 'access', userIds })
  return [
    ...removeAccess(erased, { isNamed: organizationIds !== undefined, now, onRemoved }),
    ...threadSteps(context, erased),
    ...removeUserRows(erased, (documentId, left) =>
      signal({ kind: 'presence', organizationId, documentId, userIds: left, removed: true }),
    ),
  ]
}
