import type { OnlineStatus } from '@plenum/protocol/realtime'

export interface IdleTimes {
  /** Until a user without activity counts as away; 5 minutes unless given. */
  awayAfterMs?: number
  /** Until such a user counts as offline; 10 minutes unless given. */
  offlineAfterMs?: number
}

export interface Activity {
  readonly status: OnlineStatus
  stop(): void
}

const signs = ['pointerdown', 'pointermove', 'keydown', 'wheel', 'touchstart'] as const
/** Moving a pointer is hundreds of events; one of them says it all. */
const pauseMs = 1000

/**
 * Follows whether the user is at the page. `active` is called for each sign of life, `changed` when the status differs.
 * Without a page the user is always there.
 */
export function watchActivity(times: IdleTimes | false, active: () => void, changed: () => void): Activity {
  if (times === false || typeof document === 'undefined') return { status: 'online', stop() {} }
  const page = document
  const { awayAfterMs = 300_000, offlineAfterMs = 600_000 } = times
  let status: OnlineStatus = page.hidden ? 'away' : 'online'
  let activeAt = Date.now()
  let timer: ReturnType<typeof setTimeout> | undefined

  function become(next: OnlineStatus): void {
    if (status === next) return
    status = next
    changed()
  }

  function update(): void {
    const idleMs = Date.now() - activeAt
    clearTimeout(timer)
    if (idleMs >= offlineAfterMs) return become('offline')
    const isAway = page.hidden || idleMs >= awayAfterMs
    timer = setTimeout(update, (isAway ? offlineAfterMs : awayAfterMs) - idleMs)
    become(isAway ? 'away' : 'online')
  }

  function live(): void {
    if (page.hidden || (status === 'online' && Date.now() - activeAt < pauseMs)) return
    activeAt = Date.now()
    update()
    active()
  }

  const shownOrHidden = () => (page.hidden ? update() : live())
  update()
  for (const sign of signs) page.addEventListener(sign, live, { passive: true, capture: true })
  page.addEventListener('visibilitychange', shownOrHidden)
  return {
    get status() {
      return status
    },
    stop() {
      clearTimeout(timer)
      for (const sign of signs) page.removeEventListener(sign, live, { capture: true })
      page.removeEventListener('visibilitychange', shownOrHidden)
    },
  }
}
