import type { Readable } from 'node:stream'
import { ApiError } from '@plenum/protocol'

/** What has arrived of a body, as it came: to join megabytes takes milliseconds, and many bodies may end together. */
export interface BodyBytes {
  chunks: readonly Buffer[]
  length: number
}

export const endedEarly = () =>
  new ApiError('INVALID_ARGUMENT', 'The request ended before its body was there.')

/** Of a body that has more, the rest is read when the event loop has time: a socket delivers 2 MiB at once. */
const readAtOnceBytes = 64 * 1024

interface Collecting {
  /** Throws if a body may not have that many bytes. */
  check: (length: number) => void
  /** Undefined: the event loop has time. */
  enterTurn: () => Promise<void> | undefined
  done: (error: Error | null, body?: BodyBytes) => void
}

export function collectBody(payload: Readable, { check, enterTurn, done }: Collecting): void {
  const chunks: Buffer[] = []
  let length = 0
  const onData = (chunk: Buffer) => {
    length += chunk.length
    try {
      check(length)
      chunks.push(chunk)
      const turn = length > readAtOnceBytes ? enterTurn() : undefined
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
