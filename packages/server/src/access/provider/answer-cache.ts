import type { LRUCache } from 'lru-cache'
import { lastUsed } from '../last-used.ts'
import type { ProviderAnswer } from '../permissions.ts'
import type { ProviderEntry } from './provider-response.ts'

/** What is known about a question. All times are Unix seconds. */
export interface KnownAnswer {
  /** Undefined: the provider was asked, but gave no answer. */
  readonly answer: ProviderAnswer | undefined
  /** The provider should be asked again from then on, so that its next answer is there when this one ends. */
  readonly renewAt: number
  readonly endsAt: number
}

/** How long an answer without `expiresAt` is used. */
const defaultLifeSeconds = 600
/** An answer is renewed this long before its end. A call with all its attempts takes 34 s at most. */
const renewalSeconds = 40
/** How long the provider is not asked again after it gave no answer. */
const noAnswerSeconds = 5

/** Of the API keys whose answers are remembered, and of the answers of one. An answer takes about 200 bytes. */
const maxRevisions = 100
const maxAnswersPerRevision = 10_000

/** An answer that has ended when it arrives is none: otherwise the provider would be asked again and again. */
export function knownAnswer(entry: ProviderEntry | undefined, nowSeconds: number): KnownAnswer {
  const expiresAt = entry?.expiresAt === undefined ? undefined : Math.floor(entry.expiresAt / 1000)
  if (!entry || (expiresAt !== undefined && expiresAt <= nowSeconds)) {
    const endsAt = nowSeconds + noAnswerSeconds
    return { answer: undefined, renewAt: endsAt, endsAt }
  }
  const { hasAccess, accessRole } = entry
  const answer = {
    hasAccess,
    ...(accessRole && { accessRole }),
    ...(expiresAt !== undefined && { expiresAt }),
  }
  const endsAt = expiresAt ?? nowSeconds + defaultLifeSeconds
  const half = nowSeconds + Math.ceil((endsAt - nowSeconds) / 2)
  // Nobody waits for the renewal of a denial: it closes the document.
  return { answer, renewAt: hasAccess ? Math.max(half, endsAt - renewalSeconds) : endsAt, endsAt }
}

/**
 * The answers of permission providers, by the revision of the settings that they were asked with. So a change of the
 * settings drops the answers of an API key, on all servers, and no API key displaces the answers of another.
 */
export class AnswerCache {
  readonly #revisions = lastUsed<LRUCache<string, KnownAnswer>>(maxRevisions)

  find(revision: string, key: string, nowSeconds: number): KnownAnswer | undefined {
    const known = this.#revisions.get(revision)?.get(key)
    return known && nowSeconds < known.endsAt ? known : undefined
  }

  put(revision: string, key: string, known: KnownAnswer): void {
    const answers = this.#revisions.get(revision) ?? lastUsed<KnownAnswer>(maxAnswersPerRevision)
    this.#revisions.set(revision, answers)
    answers.set(key, known)
  }
}
