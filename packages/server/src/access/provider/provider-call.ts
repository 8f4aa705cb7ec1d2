import type { Clock } from '../../platform/clock.ts'
import type { Log } from '../../platform/log/log.ts'
import type { OutgoingPost } from '../../platform/outgoing/outgoing-post.ts'
import { AnswerTooLarge } from '../../platform/outgoing/read-answer.ts'
import { AddressRefused } from '../../platform/outgoing/resolve-host.ts'
import type { Secrets } from '../credentials/secrets.ts'
import { InvalidResponse, type ProviderEntry, readResponse } from './provider-response.ts'
import type { ProviderSettings } from './provider-settings.ts'
import { type Question, requestBody } from './question.ts'

export interface ProviderCallDeps {
  post: OutgoingPost
  secrets: Pick<Secrets, 'permissionSignatureKey'>
  clock: Clock
  log: Pick<Log, 'warn'>
}

const maxAttempts = 3
const retryMs = 2000
const attemptTimeoutMs = 10_000
const maxAnswerBytes = 1024 * 1024

/** After these errors, another attempt would fail too. */
const finalErrors = [InvalidResponse, AnswerTooLarge, AddressRefused]
/** Statuses after which the next attempt may succeed. */
const isTemporary = (status: number) => status >= 500 || status === 408 || status === 429

/**
 * Asks the permission provider of an API key. Returns the entries of its answer by `questionKey`, or undefined if it does
 * not answer, or not as spec 7.8 says. `signal` ends the call.
 */
export async function callProvider(
  { post, secrets, clock, log }: ProviderCallDeps,
  apiKey: string,
  { config: { permissionProviderUrl }, credential }: ProviderSettings,
  questions: readonly Question[],
  signal: AbortSignal,
): Promise<Map<string, ProviderEntry> | undefined> {
  if (permissionProviderUrl === '') return undefined
  const request = {
    url: new URL(permissionProviderUrl),
    headers: { ...(credential !== '' && { authorization: `Bearer ${credential}` }) },
    body: requestBody(questions),
    timeoutMs: attemptTimeoutMs,
    maxAnswerBytes,
    signal,
  }
  const attempt = async () => {
    const { status, body } = await post(request)
    if (isTemporary(status)) throw new Error(`The answer has the HTTP status ${status}.`)
    if (status !== 200) throw new InvalidResponse(`The answer has the HTTP status ${status}.`)
    return readResponse(body, () => secrets.permissionSignatureKey(apiKey))
  }
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt()
    } catch (error) {
      if (signal.aborted) return undefined
      const isFinal = finalErrors.some((type) => error instanceof type)
      if (isFinal || attempts === maxAttempts) {
        const { message: reason } = error as Error
        log.warn({ apiKey, reason, attempts }, 'the permission provider gave no answer')
        return undefined
      }
      await wait(clock, retryMs, signal)
    }
  }
}

/** Waits, but no longer than until the signal is aborted. */
function wait(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const onEnd = () => {
      stopTimer()
      signal.removeEventListener('abort', onEnd)
      resolve()
    }
    const stopTimer = clock.setTimeout(onEnd, ms)
    signal.addEventListener('abort', onEnd)
  })
}
