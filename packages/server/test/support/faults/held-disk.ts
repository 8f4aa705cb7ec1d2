import type { Sync } from '../../../src/store/engine/group-sync.ts'

/** A simulated disk whose syncs wait between `hold` and `release`. Pass `sync` to the server. */
export function heldDisk() {
  let isHeld = false
  const waiting: (() => void)[] = []
  const sync: Sync = (_fd, done) => {
    if (isHeld) waiting.push(() => done(null))
    else done(null)
  }
  return {
    sync,
    /** Returns the number of syncs that have started and not ended. */
    waiting: () => waiting.length,
    hold() {
      isHeld = true
    },
    release() {
      isHeld = false
      for (const end of waiting.splice(0)) end()
    },
  }
}
