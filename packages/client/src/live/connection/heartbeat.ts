const pingIntervalMs = 15_000
const probeTimeoutMs = 5_000

export interface Heartbeat {
  /** Records that the server sent something. */
  touch(): void
  /** Pings now, for example after the network came back, and waits only `probeTimeoutMs` for an answer. */
  probe(): void
  stop(): void
}

/**
 * Detects a connection that is dead although no side closed it: it is dead when a ping has no answer before the next ping.
 * The time since the last message would be a worse measure: browsers slow down the timers of hidden pages, and the
 * connection of a laptop that slept may still be alive.
 */
export function startHeartbeat(sendPing: () => void, onDead: () => void): Heartbeat {
  let isAlive = true
  let probeTimer: ReturnType<typeof setTimeout> | undefined
  const ping = () => {
    isAlive = false
    sendPing()
  }
  const interval = setInterval(() => (isAlive ? ping() : onDead()), pingIntervalMs)
  return {
    touch: () => void (isAlive = true),
    probe() {
      clearTimeout(probeTimer)
      ping()
      probeTimer = setTimeout(() => isAlive || onDead(), probeTimeoutMs)
    },
    stop() {
      clearInterval(interval)
      clearTimeout(probeTimer)
    },
  }
}
