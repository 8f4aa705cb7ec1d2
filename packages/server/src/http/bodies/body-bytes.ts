import type { Readable } from 'node:stream'
import { ApiError } from '@plenum/protocol'

/** A received body, not yet joined: joining megabytes takes milliseconds, and many bodies may end at the same time. */
export interface BodyBytes {
  chunks: readonly Buffer[]
  length: number
}

export const endedEarly = () =>
  new ApiError('INVALID_ARGUMENT', 'The request ended before its whole body had arrived.')

/** Beyond this size, a body is read only while the event loop is free, because a socket can deliver 2 MiB at once. */
const maxUnpacedBytes = 64 * 1024

interface CollectOptions {
  /** Throws if a body of this length is too large. */
  check: (length: number) => void
  /** Resolves when it is the caller's turn. Returns undefined if the event loop is free now. */
  enterTurn: () => Promise<void> | undefined
  done: (error: Error | null, body?: BodyBytes) => void
}

/** Collects the chunks of a body, and calls `done` once: with the body, or with an error. */
export function collectBody(payload: Readable, { check, enterTurn, done }: CollectOptions): void {
  const chunks: Buffer[] = []
  let length = 0
  const onData = (chunk: Buffer) => {
    length += chunk.length
    try {
      check(length)
      chunks.push(chunk)
      const turn = length > maxUnpacedBytes ? enterTurn() : undefined
      if (turn) {
        payload.pause()
        void turn.then(() => payload.resume())
      }
    } catch (error) {
      end(error as Error)
    }
  }
  const onEnd = () => end(null)
  const onError = () => end(endedEarly())
  const end = (error: Error | null) => {
    payload.off('data', onData).off('end', onEnd).off('error', onError)
    if (error) done(error)
    else done(null, { chunks, length })
  }
  payload.on('data', onData).on('end', onEnd).on('error', onError)
}
