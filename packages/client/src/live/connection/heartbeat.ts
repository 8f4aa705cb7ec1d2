const intervalMs = 15_000
const probeMs = 5_000

export interface Heartbeat {
  /** Something arrived. */
  heard(): void
  /** Finds out now, as after the network came back. */
  probe(): void
  stop(): void
}

/**
 * Notices a connection that is dead though nobody closed it. Counts from ping to ping and not by the clock: browsers slow
 * the timers of hidden pages down, and a laptop that slept has not lost its connection for certain.
 */
export function startHeartbeat(ping: () => void, dead: () => void): Heartbeat {
  let answered = true
  let probe: ReturnType<typeof setTimeout> | undefined
  const ask = () => {
    answered = false
    ping()
  }
  const check = () => {
    if (!answered) dead()
  }
  const timer = setInterval(() => (answered ? ask() : dead()), intervalMs)
  return {
    heard: () => void (answered = true),
    probe() {
      clearTimeout(probe)
      ask()
      probe = setTimeout(check, probeMs)
    },
    stop() {
      clearInterval(timer)
      clearTimeout(probe)
    },
  }
}
