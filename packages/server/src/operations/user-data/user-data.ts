import type { Operations } from '@plenum/protocol'
import { newId } from '../../access/ids.ts'
import type { Handlers } from '../../calls/call.ts'
import * as erasures from '../../store/erasures/erasures.ts'
import { unique } from '../shared/batches.ts'
import { doesNotExist } from '../shared/does-not-exist.ts'
import { exportUserData } from './export.ts'

export const userDataHandlers: Handlers<Operations['userData']> = {
  get: exportUserData,

  async delete({ input, caller: { apiKey }, db, now, enqueue }) {
    const erasureId = newId('job')
    const userIds = unique(input.userIds)
    const organizationIds = input.organizationIds && unique(input.organizationIds).sort()
    const tasksCount = await erasures.add(db, apiKey, { erasureId, userIds, organizationIds }, now)
    await enqueue('users.erase', { erasureId })
    return { jobId: erasureId, tasksCount }
  },

  async deleteStatus({ input, caller: { apiKey }, db }) {
    const erasure = await erasures.find(db, apiKey, input.jobId)
    if (!erasure) throw doesNotExist('Job')
    const { isCompleted, tasksLeft, lastTaskCompletedAt } = erasure
    return { isDeleteCompleted: isCompleted, tasksLeft, lastTaskCompletedTime: lastTaskCompletedAt }
  },
}
