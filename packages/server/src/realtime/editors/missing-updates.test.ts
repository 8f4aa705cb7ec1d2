import { expect, test } from 'vitest'
import { systemClock } from '../../platform/clock.ts'
import type { EditorRoom } from '../rooms/room.ts'
import { MissingUpdates } from './missing-updates.ts'

/** Requests the missing updates in a room. Returns which state vector the client got, and for how many updates it waited. */
function request(hasUnstored: () => boolean) {
  const sent: string[] = []
  let waits = 0
  const room = {
    hasUnstoredOf: hasUnstored,
    stateVector: () => Buffer.from('with queued updates'),
    committedVector: () => Buffer.from('of stored updates'),
  } as Partial<EditorRoom> as EditorRoom
  const missing = new MissingUpdates({
    clock: systemClock,
    userId: 'ada',
    afterQueued(_room, then) {
      waits++
      then()
    },
    sendStateVector: (vector) => void sent.push(vector.toString()),
  })
  missing.requestNow(room)
  return { sent, waits }
}

test('[R32.4] a client is asked for what the server lacks once its queued updates are stored, and without them if its user writes on', () => {
  expect(request(() => false)).toEqual({ sent: ['with queued updates'], waits: 0 })
  let left = 3
  expect(request(() => left-- > 0)).toEqual({ sent: ['with queued updates'], waits: 3 })
  expect(request(() => true)).toEqual({ sent: ['of stored updates'], waits: 10 })
})
