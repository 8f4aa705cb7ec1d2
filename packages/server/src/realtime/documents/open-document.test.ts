import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { SteppedClock } from '../../../test/support/clock.ts'
import type { Decision } from '../../access/permissions.ts'
import type { Log } from '../../platform/log/log.ts'
import { Limiter } from '../../platform/turns/limiter.ts'
import { Scheduler } from '../../platform/turns/scheduler.ts'
import { StartQueue } from '../../platform/turns/start-queue.ts'
import type { Database } from '../../store/engine/db.ts'
import { AccessVersions } from '../authorization/access-versions.ts'
import { sweepMs } from '../sockets/heartbeat.ts'
import { OpenDocument, type OpenDocumentDeps } from './open-document.ts'
import { Participant } from './participant.ts'
import { noPeers, noSharedLists } from '../../../test/support/servers/peers.ts'

const startMs = 1_000_000
const second = 1_000

/** A document with one client, which is swept as the gateway sweeps it. Time is counted from its opening. */
async function scene({ expiresAfterSeconds = 3_600, tokenSeconds = 7_200 } = {}) {
  const clock = new SteppedClock(startMs)
  const events: string[] = []
  const record = (event: string) => void events.push(`${event} after ${clock.elapsed() / second} s`)
  let decision: Decision = {
    allowed: true,
    accessRole: 'viewer',
    accessType: 'restricted',
    expiresAt: startMs / 1_000 + expiresAfterSeconds,
  }
  const deps = {
    evaluateAccess: async (_document, clients) => clients.map(() => decision),
    roomLoader: { load: () => Promise.reject(new Error('No test opens an editor.')) },
    appender: { catchUp: async () => {}, receive() {}, makeSpace() {} },
    peers: noPeers(),
    // No test reads presence or live states.
    database: undefined as unknown as Database,
    gate: new Limiter(1),
    scheduler: new Scheduler(),
    largeReads: new StartQueue(),
    threadReads: {
      readChanged: async () => ({ changed: [], removed: [], unread: new Map(), isTooMany: false }),
      readViewed: async () => [],
    },
    sharedLists: noSharedLists(),
    clock,
    log: { error() {} } as unknown as Log,
    onUpdateRefused() {},
  } satisfies OpenDocumentDeps
  const ref = { organizationId: 'o1', documentId: 'd1' }
  const document = new OpenDocument({
    deps,
    apiKey: 'k1',
    ref,
    accessVersions: new AccessVersions(),
    onClosed() {},
  })
  const identity = {
    apiKey: 'k1',
    userId: 'ada',
    name: undefined,
    email: undefined,
    isAdmin: false,
    look: { color: '#364fc7' },
    access: { userId: 'ada', resources: [] },
    expiresAt: startMs / 1_000 + tokenSeconds,
  }
  let sweeps = 0
  const host = { scheduler: deps.scheduler, owner: identity, hold() {}, release() {} }
  const participant = new Participant(host, identity, document, {
    onOpened() {},
    onRoleChanged() {},
    onTokenExpiring: () => record('asked for a token'),
    onClosed: (reason) => record(reason),
    resendSkipped() {
      sweeps++
      return false
    },
  })
  document.members.add(participant)
  participant.start()
  await setImmediate()
  clock.setInterval(() => {
    if (!document.isQuiet(clock.elapsed())) document.sweep()
  }, sweepMs)
  return {
    events,
    participant,
    document,
    deny: () => (decision = { allowed: false, reason: 'no_grant' } as Decision),
    /** Lets time pass, and returns how often the client was visited. */
    async pass(seconds: number) {
      const before = sweeps
      for (let left = seconds * second; left > 0; left -= sweepMs) {
        clock.step(sweepMs)
        await setImmediate()
      }
      return sweeps - before
    },
  }
}

test('[R13.4] what a client missed is looked for twice a second, and every 10 s in a document in which nothing has happened for 3 s', async () => {
  const { pass, participant } = await scene()
  expect(await pass(3)).toBe(6)
  expect(await pass(60)).toBe(6)
  participant.run(() => {})
  expect(await pass(3)).toBe(6)
  expect(await pass(60)).toBe(6)
})

test('[25.8] access that ends by time alone ends within half a second, also in a document in which nothing happens', async () => {
  const { pass, events, deny } = await scene({ expiresAfterSeconds: 33 })
  await pass(30)
  deny()
  await pass(10)
  expect(events).toEqual(['permissionDenied after 33 s'])
})

test('[R9] a change of access is noticed within half a second, also if nothing else happens in the document', async () => {
  const { pass, events, deny, document } = await scene()
  await pass(30)
  deny()
  document.invalidateAccess()
  await pass(10)
  expect(events).toEqual(['permissionDenied after 30.5 s'])
})

test('[R6.2] a client is asked for a new token one minute before the old one expires, also in a document in which nothing happens', async () => {
  const { pass, events } = await scene({ tokenSeconds: 93 })
  await pass(40)
  expect(events).toEqual(['asked for a token after 33 s'])
})
