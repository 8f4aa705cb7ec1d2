import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { SteppedClock } from '../../../test/support/clock.ts'
import type { Decision } from '../../access/permissions.ts'
import { type AccessDecision, type AuthorizedClient, Authorizer } from './authorizer.ts'

const granted: Decision = { allowed: true, accessRole: 'editor', accessType: 'restricted' }

class Client implements AuthorizedClient {
  readonly identity = {} as AuthorizedClient['identity']
  readonly role = undefined
  readonly hasLeft = false
  readonly mayCreate = true
  accessVersion = 1
  decidedVersion = 0
  readonly decisions: AccessDecision[] = []
  readonly closes: string[] = []

  isCurrent(): boolean {
    return this.decidedVersion === this.accessVersion || this.closes.length > 0
  }

  onDecision(decision: AccessDecision, accessVersion: number): void {
    this.decidedVersion = accessVersion
    this.decisions.push(decision)
  }

  close(reason: string): void {
    this.closes.push(reason)
  }
}

function scene(clients: Client[], evaluate: () => Promise<void> = async () => {}) {
  const clock = new SteppedClock()
  const errors: unknown[] = []
  /** How many clients each evaluation was for. */
  const evaluated: number[] = []
  const authorizer = new Authorizer(
    {
      clock,
      evaluate: async (_document, stale) => {
        evaluated.push(stale.length)
        await evaluate()
        return stale.map(() => granted)
      },
      onError: (error) => errors.push(error),
    },
    { apiKey: 'k1', organizationId: 'o1', documentId: 'd1' },
    new Set(clients),
  )
  return { clock, errors, evaluated, authorizer }
}

describe('[R9] the authorizer of an open document', () => {
  test('[R9] clients that join at the same time are checked in one evaluation', async () => {
    const clients = [new Client(), new Client()]
    const { authorizer, evaluated } = scene(clients)
    void authorizer.authorize()
    await authorizer.authorize()
    expect(evaluated).toEqual([2])
    expect(clients.map(({ decisions }) => decisions)).toEqual([[granted], [granted]])
  })

  test('[R9] a client whose access changes during its check is checked once more', async () => {
    const ada = new Client()
    const { authorizer, evaluated } = scene([ada], async () => {
      if (ada.accessVersion === 1) ada.accessVersion = 2
    })
    await authorizer.authorize()
    expect(evaluated).toEqual([1, 1])
    expect(ada.decidedVersion).toBe(2)
  })

  test('[R9] `decide` checks the access of a client that has left', async () => {
    const gone = new Client()
    const { authorizer } = scene([])
    await authorizer.decide(gone)
    expect(gone.decisions).toEqual([granted])
  })

  test('[R9] a failing check is retried every 200 ms, and closes the clients after five attempts', async () => {
    const ada = new Client()
    const { clock, errors, authorizer } = scene([ada], () => Promise.reject(new Error('no database')))
    const done = authorizer.authorize()
    for (let attempts = 1; attempts < 5; attempts++) {
      await setImmediate()
      expect(errors).toHaveLength(attempts)
      clock.step(199)
      await setImmediate()
      expect(errors).toHaveLength(attempts)
      clock.step(1)
    }
    await done
    expect(errors).toHaveLength(5)
    expect(ada.closes).toEqual(['unavailable'])
  })

  test('[R9.4] clients do not wait for a pending decision about another client', async () => {
    const [ada, bob] = [new Client(), new Client()]
    const { authorizer, answer } = pendingScene(ada, bob)
    await authorizer.authorize()
    expect([ada.decisions, bob.decisions]).toEqual([[], [granted]])
    bob.accessVersion++
    await authorizer.authorize()
    expect([ada.decisions.length, bob.decisions.length]).toEqual([0, 2])
    const decided = authorizer.decide(ada)
    answer()
    await decided
    expect(ada.decisions).toEqual([granted])
  })

  test('[R9.4] a client is closed if the provider could not be asked about it', async () => {
    const ada = new Client()
    const { authorizer, fail } = pendingScene(ada)
    const decided = authorizer.decide(ada)
    await authorizer.authorize()
    fail(new Error('no settings'))
    await decided
    expect([ada.decisions, ada.closes]).toEqual([[], ['unavailable']])
  })

  test('[R9.4] a change of access is evaluated while a decision is pending', async () => {
    const ada = new Client()
    const { authorizer, state } = pendingScene(ada)
    await authorizer.authorize()
    state.isPending = false
    await authorizer.authorize()
    expect(ada.decisions).toEqual([])
    ada.accessVersion++
    await authorizer.authorize()
    expect(ada.decisions).toEqual([granted])
    expect(ada.decidedVersion).toBe(2)
  })
})

/** The decision about the first client is pending until `answer` is called. */
function pendingScene(...clients: Client[]) {
  const state = { isPending: true }
  let answer = () => {}
  let fail = (_error: Error) => {}
  const answered = new Promise<void>((resolve, reject) => {
    answer = resolve
    fail = reject
  })
  const authorizer = new Authorizer(
    {
      clock: new SteppedClock(),
      evaluate: async (_document, stale) =>
        stale.map((client) => (client === clients[0] && state.isPending ? { answered } : granted)),
      onError: () => {},
    },
    { apiKey: 'k1', organizationId: 'o1', documentId: 'd1' },
    new Set(clients),
  )
  const answerNow = () => {
    state.isPending = false
    answer()
  }
  return { authorizer, state, answer: answerNow, fail }
}
