import { LaneLimiters } from '../../platform/turns/limiter.ts'
import type { Question } from './question.ts'

/** Requests to the provider of one API key at a time. Each API key has its own, so a slow provider delays no other one. */
const maxCallsPerApiKey = 4
/** Questions in one request: with the longest ids, the answer has less than 1 MiB. */
const maxQuestionsPerCall = 200
/** Further questions of an API key are not asked. */
const maxQuestionsPerApiKey = 10_000

interface Waiting<Answer> {
  question: Question
  resolve: (answer: Answer) => void
  reject: (error: unknown) => void
}

/** The questions of one API key, by their names. */
interface Lane<Answer> {
  unsent: Map<string, Waiting<Answer>>
  /** All that are not answered yet. */
  pending: Map<string, Promise<Answer>>
  /** Whether a call that takes the unsent questions is about to start. */
  isScheduled: boolean
}

/** Answers the questions, in their order. */
type AskProvider<Answer> = (apiKey: string, questions: readonly Question[]) => Promise<readonly Answer[]>

/** Collects the questions that wait at the same moment, and sends those of an API key together. */
export class QuestionQueue<Answer> {
  readonly #askProvider: AskProvider<Answer>
  readonly #calls = new LaneLimiters(maxCallsPerApiKey)
  readonly #lanes = new Map<string, Lane<Answer>>()

  constructor(askProvider: AskProvider<Answer>) {
    this.#askProvider = askProvider
  }

  /** Joins a question with the same name that is not answered yet. Returns undefined if too many questions wait. */
  ask(apiKey: string, name: string, question: Question): Promise<Answer> | undefined {
    const lane = this.#lanes.get(apiKey) ?? { unsent: new Map(), pending: new Map(), isScheduled: false }
    const asked = lane.pending.get(name)
    if (asked) return asked
    if (lane.pending.size >= maxQuestionsPerApiKey) return undefined
    this.#lanes.set(apiKey, lane)
    const answered = new Promise<Answer>((resolve, reject) => {
      lane.unsent.set(name, { question, resolve, reject })
    }).finally(() => {
      lane.pending.delete(name)
      if (lane.pending.size === 0) this.#lanes.delete(apiKey)
    })
    lane.pending.set(name, answered)
    this.#schedule(apiKey, lane)
    return answered
  }

  #schedule(apiKey: string, lane: Lane<Answer>): void {
    if (lane.isScheduled || lane.unsent.size === 0) return
    lane.isScheduled = true
    // After this iteration of the event loop, which may bring more questions.
    setImmediate(() => void this.#calls.run(apiKey, () => this.#send(apiKey, lane)))
  }

  async #send(apiKey: string, lane: Lane<Answer>): Promise<void> {
    lane.isScheduled = false
    const sent = [...lane.unsent].slice(0, maxQuestionsPerCall)
    for (const [name] of sent) lane.unsent.delete(name)
    this.#schedule(apiKey, lane)
    const waiting = sent.map(([, one]) => one)
    try {
      const answers = await this.#askProvider(
        apiKey,
        waiting.map(({ question }) => question),
      )
      for (const [index, { resolve }] of waiting.entries()) resolve(answers[index] as Answer)
    } catch (error) {
      for (const { reject } of waiting) reject(error)
    }
  }
}
