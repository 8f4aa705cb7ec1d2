import type { Sync } from '../../src/store/engine/group-sync.ts'

/** A disk on which syncs take as long as a test wants: `sync` goes to the server. */
export function heldDisk() {
  let isHeld = false
  const waiting: (() => void)[] = []
  const sync: Sync = (_fd, done) => {
    if (isHeld) waiting.push(() => done(null))
    else done(null)
  }
  return {
    sync,
    /** Syncs that have begun and do not end. */
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
