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
})
