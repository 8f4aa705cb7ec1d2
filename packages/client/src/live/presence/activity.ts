import type { OnlineStatus } from '@plenum/protocol/realtime'

export interface IdleTimes {
  /**
   * Milliseconds without activity until the user is shown as `away`. Default: 300,000 (5 minutes). The user of a hidden
   * page is `away` at once.
   */
  awayAfterMs?: number
  /** Milliseconds without activity until the user is shown as `offline`. Default: 600,000 (10 minutes). */
  offlineAfterMs?: number
}

export interface Activity {
  readonly status: OnlineStatus
  stop(): void
}

const activityEvents = ['pointerdown', 'pointermove', 'keydown', 'wheel', 'touchstart'] as const
/** A moving pointer causes hundreds of events. While the user is online, one event per interval is enough. */
const minEventIntervalMs = 1000

/**
 * Watches whether the user is active in the web page. Calls `onActivity` when the user does something, and `onChange` when
 * the status changes. Outside of a web page, or when `times` is false, the user is always online.
 */
export function watchActivity(
  times: IdleTimes | false,
  onActivity: () => void,
  onChange: () => void,
): Activity {
  if (times === false || typeof document === 'undefined') return { status: 'online', stop() {} }
  const page = document
  const { awayAfterMs = 300_000, offlineAfterMs = 600_000 } = times
  let status: OnlineStatus = page.hidden ? 'away' : 'online'
  let activeAt = Date.now()
  let timer: ReturnType<typeof setTimeout> | undefined

  function setStatus(next: OnlineStatus): void {
    if (status === next) return
    status = next
    onChange()
  }

  function update(): void {
    const idleMs = Date.now() - activeAt
    clearTimeout(timer)
    if (idleMs >= offlineAfterMs) return setStatus('offline')
    const isAway = page.hidden || idleMs >= awayAfterMs
    timer = setTimeout(update, (isAway ? offlineAfterMs : awayAfterMs) - idleMs)
    setStatus(isAway ? 'away' : 'online')
  }

  function markActive(): void {
    if (page.hidden || (status === 'online' && Date.now() - activeAt < minEventIntervalMs)) return
    activeAt = Date.now()
    update()
    onActivity()
  }

  const onVisibilityChange = () => (page.hidden ? update() : markActive())
  update()
  for (const event of activityEvents) {
    page.addEventListener(event, markActive, { passive: true, capture: true })
  }
  page.addEventListener('visibilitychange', onVisibilityChange)
  return {
    get status() {
      return status
    },
    stop() {
      clearTimeout(timer)
      for (const event of activityEvents) page.removeEventListener(event, markActive, { capture: true })
      page.removeEventListener('visibilitychange', onVisibilityChange)
    },
  }
}
