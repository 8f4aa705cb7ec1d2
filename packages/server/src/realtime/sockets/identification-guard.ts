import type { Socket } from 'node:net'
import { limits } from '@plenum/protocol/realtime'
import type { Clock, StopTimer } from '../../platform/clock.ts'

/** Bytes that a client may send beyond its first message, such as frame headers. */
const overheadBytes = 1024

interface UnidentifiedClient {
  readonly isIdentified: boolean
  /** Whether the server is checking a token of the client. */
  readonly isChecking?: boolean
}

export interface IdentificationGuardDeps {
  socket: Socket
  client: UnidentifiedClient
  clock: Clock
  timeoutMs: number
  onTimeout: () => void
  onTooManyBytes: () => void
}

/**
 * Bounds the time and the bytes of a client until it is identified (R16) or its socket is closed. Nothing refers to the guard
 * afterwards, so it takes no memory while the client stays connected.
 */
export function guardIdentification(deps: IdentificationGuardDeps): void {
  const { socket, client, clock, timeoutMs, onTimeout, onTooManyBytes } = deps
  let bytes = 0
  let stopTimer: StopTimer
  const onData = (chunk: Buffer) => {
    if (client.isIdentified) return stop()
    // Clients with many editors send a token for each, without waiting for the answer to the first.
    if (client.isChecking) return
    bytes += chunk.length
    if (bytes <= limits.firstMessageBytes + overheadBytes) return
    stop()
    onTooManyBytes()
  }
  const startTimer = () => {
    stopTimer = clock.setTimeout(() => {
      // The token has arrived in time; checking it is up to the server.
      if (client.isChecking) return startTimer()
      stop()
      if (!client.isIdentified) onTimeout()
    }, timeoutMs)
  }
  const stop = () => {
    stopTimer()
    socket.off('data', onData).off('close', stop)
  }
  startTimer()
  socket.on('data', onData).on('close', stop)
}
