import type { FastifyReply, FastifyRequest } from 'fastify'
import { TimeLimit } from '../platform/turns/time-limit.ts'
import type { Clock } from '../platform/clock.ts'
import { sendError } from './errors.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Aborted when nobody waits for the answer any more. */
    abandoned: AbortSignal | undefined
  }
}

/** Answers `DEADLINE_EXCEEDED` if a request has no answer in time after it has arrived. */
export function limitAnswerTime(clock: Clock, request: FastifyRequest, reply: FastifyReply): void {
  const { raw: response } = reply
  const limit = new TimeLimit({
    clock,
    hasArrived: () => request.raw.complete,
    // The time of an answer that is being sent has limits of its own.
    onOver: (error) => void (response.headersSent || sendError(error, request, reply)),
  })
  request.abandoned = limit.abandoned
  response.once('close', () => (response.writableFinished ? limit.onAnswered() : limit.onCallerGone()))
}
