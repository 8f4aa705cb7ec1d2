import type { ApiKey } from '../../store/api-keys.ts'
import type { Database } from '../../store/engine/db.ts'
import type { Secrets } from '../credentials/secrets.ts'
import { AnswerCache, type KnownAnswer, knownAnswer } from './answer-cache.ts'
import { callProvider, type ProviderCallDeps } from './provider-call.ts'
import type { ProviderEntry } from './provider-response.ts'
import { readProviderSettings } from './provider-settings.ts'
import { type Question, questionKey } from './question.ts'
import { QuestionQueue } from './question-queue.ts'

type Key = Pick<ApiKey, 'apiKey' | 'providerRevision'>

export interface PermissionProviderDeps extends ProviderCallDeps {
  database: Database
  secrets: Secrets
}

/** Asks the permission providers of API keys, and remembers what they answer (spec 7.8). */
export class PermissionProvider {
  readonly #deps: PermissionProviderDeps
  readonly #cache = new AnswerCache()
  readonly #queue: QuestionQueue<KnownAnswer>
  readonly #stop = new AbortController()

  constructor(deps: PermissionProviderDeps) {
    this.#deps = deps
    this.#queue = new QuestionQueue((apiKey, questions) => this.#call(apiKey, questions))
  }

  /** The answers for one check of access. Returns undefined if the API key does not use a provider. */
  answersFor({ apiKey, providerRevision }: Key): ProviderAnswers | undefined {
    return providerRevision === undefined ? undefined : new ProviderAnswers(this, apiKey, providerRevision)
  }

  /**
   * Runs a check of access with the answers that are known and, if some were missing, again with those of the provider. Call
   * it outside of transactions: the provider may take 34 s to answer. `around` asks the question.
   */
  async check<T>(
    key: Key,
    run: (answers: ProviderAnswers | undefined) => Promise<T>,
    around: AroundQuestion = (ask) => ask(),
  ): Promise<T> {
    const answers = this.answersFor(key)
    const result = await run(answers)
    if (!answers?.hasUnanswered) return result
    await around(() => answers.ask())
    return run(answers)
  }

  get nowSeconds(): number {
    return Math.floor(this.#deps.clock.now() / 1000)
  }

  /** Returns the answer that is remembered. Starts to renew it if it ends soon. */
  find(apiKey: string, revision: string, question: Question): KnownAnswer | undefined {
    const known = this.#cache.find(revision, questionKey(question), this.nowSeconds)
    if (known && this.nowSeconds >= known.renewAt) this.ask(apiKey, revision, question).catch(() => {})
    return known
  }

  /** Resolves when the provider has answered, or will not. Rejects if its settings cannot be read, which is logged. */
  async ask(apiKey: string, revision: string, question: Question): Promise<KnownAnswer> {
    const key = questionKey(question)
    return this.#queue.ask(apiKey, `${revision} ${key}`, question) ?? this.#remember(revision, key, undefined)
  }

  /** Whether questions may have no answer because the server stops. */
  get isStopped(): boolean {
    return this.#stop.signal.aborted
  }

  /** Ends all requests. Questions that wait get no answer. */
  stop(): void {
    this.#stop.abort()
  }

  async #call(apiKey: string, questions: readonly Question[]): Promise<KnownAnswer[]> {
    const { database, secrets, log } = this.#deps
    const settings = await readProviderSettings(database.read, secrets, apiKey).catch((err: unknown) => {
      log.warn({ apiKey, err }, 'cannot read the settings of the permission provider')
      throw err
    })
    const { revision } = settings.config
    const found = settings.enabled
      ? await callProvider(this.#deps, apiKey, settings, questions, this.#stop.signal)
      : undefined
    return questions.map((question) => {
      const key = questionKey(question)
      return this.#remember(revision, key, found?.get(key))
    })
  }

  #remember(revision: string, key: string, entry: ProviderEntry | undefined): KnownAnswer {
    const known = knownAnswer(entry, this.nowSeconds)
    // A renewal without an answer changes nothing: the previous answer applies until its end.
    if (known.answer || !this.#cache.find(revision, key, this.nowSeconds)) {
      this.#cache.put(revision, key, known)
    }
    return known
  }
}

/** Calls `ask`, and may do something before and after it. */
export type AroundQuestion = (ask: () => Promise<void>) => Promise<void>

/** What the permission provider of an API key says, for one check of access. Collects the questions without an answer. */
export class ProviderAnswers {
  readonly #provider: PermissionProvider
  readonly #apiKey: string
  readonly #revision: string
  readonly #answered = new Map<string, KnownAnswer>()
  readonly #unanswered = new Map<string, Question>()
  #isSilent = false

  constructor(provider: PermissionProvider, apiKey: string, revision: string) {
    this.#provider = provider
    this.#apiKey = apiKey
    this.#revision = revision
  }

  /** Returns undefined if the answer is not known. Then `ask` asks for it. */
  find(question: Question): KnownAnswer | undefined {
    const key = questionKey(question)
    const known = this.#answered.get(key) ?? this.#provider.find(this.#apiKey, this.#revision, question)
    if (!known) this.#unanswered.set(key, question)
    else if (!known.answer) this.#isSilent = true
    return known
  }

  /** The users of the questions that `ask` asks. */
  get unansweredUserIds(): Set<string> {
    return new Set([...this.#unanswered.values()].map(({ userId }) => userId))
  }

  /** Whether the provider was asked and gave no answer to a question, which denies access. */
  get isSilent(): boolean {
    return this.#isSilent
  }

  get hasUnanswered(): boolean {
    return this.#unanswered.size > 0
  }

  /** Resolves when the provider has answered all questions that had no answer, or will not answer them. */
  async ask(): Promise<void> {
    const questions = [...this.#unanswered]
    this.#unanswered.clear()
    const answers = await Promise.all(
      questions.map(([, question]) => this.#provider.ask(this.#apiKey, this.#revision, question)),
    )
    for (const [index, [key]] of questions.entries()) this.#answered.set(key, answers[index] as KnownAnswer)
  }
}
