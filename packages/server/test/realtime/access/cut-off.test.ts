import { once } from 'node:events'
import { afterAll, describe, expect, test } from 'vitest'
import { endingIn, refusalTextsOf } from '../../support/access/probe.ts'
import { stores, type TestServer, useServer } from '../../support/harness.ts'
import { undisturbedNow } from '../../support/measures/processor-time.ts'
import { type EditorTarget, type RawClient } from '../../support/clients/raw-client.ts'
import { type Dialect, dialects, rawClient, sendsRole } from '../../support/clients/raw-clients.ts'
import { RawRealtime } from '../../support/clients/raw-realtime.ts'
import {
  type Consequence,
  type Revocation,
  revocations,
  type Stage,
  stageFor,
} from '../../support/access/revocations.ts'
import { Observer } from '../../support/clients/observer.ts'
import { textIn, wordsIn, wordUpdate } from '../../support/random/words.ts'
const documentRef = { organizationId: 'o1', documentId: 'd1' }
const readOnly = 'The user may read this document, but not change it.'

/**
 * All but `new` write before the revocation. Then `idle` sends nothing and must be notified, `writing` writes right after
 * the answer to the revocation, and `typing` writes during the revocation and after the answer. `new` has an editor open
 * that is still empty, and writes right after the answer.
 */
const behaviors = ['idle', 'writing', 'typing', 'new'] as const
type Behavior = (typeof behaviors)[number]

interface Actor {
  dialect: Dialect
  behavior: Behavior
  editorId: string
  client: RawClient
}

type Credentials = Pick<EditorTarget, 'token' | 'headers'>

const connect = (server: TestServer, by: Credentials, as: readonly Behavior[] = behaviors): Actor[] =>
  dialects.flatMap((dialect) =>
    as.map((behavior) => {
      const editorId = `${dialect}-${behavior}`
      return {
        dialect,
        behavior,
        editorId,
        client: rawClient(server, dialect, { ...documentRef, editorId, ...by }),
      }
    }),
  )

/** Returns the first answer to each actor: the role, or the ending. */
async function firstAnswers(actors: readonly Actor[]): Promise<Record<string, unknown>> {
  const found = await Promise.all(actors.map(({ client }) => client.opened()))
  return Object.fromEntries(actors.map(({ editorId }, index) => [editorId, found[index]]))
}

/** Keys the values by editor, so a failure names the editor. */
const byEditor = <T>(actors: readonly Actor[], value: (actor: Actor) => T): Record<string, T> =>
  Object.fromEntries(actors.map((actor) => [actor.editorId, value(actor)]))

const acceptedAs = (dialect: Dialect, role: string) => (sendsRole(dialect) ? { role } : {})

/** Sends every kind of write at once and returns the result of each. */
function writeAll(client: RawClient, word: string): Promise<string[]> {
  return Promise.all([
    client.update(wordUpdate(`${word}.update`)),
    client.syncStep2(wordUpdate(`${word}.step`)),
    ...(client instanceof RawRealtime ? [client.setLiveState(`${word}.${client.target.editorId}`, {})] : []),
  ])
}

async function outcomes(actors: readonly Actor[], word: string): Promise<Set<string>> {
  return new Set((await Promise.all(actors.map(({ client }) => writeAll(client, word)))).flat())
}

/** Resolves with the time of the notification: at once, if the protocol has no message for a role change. */
async function notifiedAt({ client, dialect }: Actor, effect: Consequence): Promise<number> {
  if (effect !== 'viewer') await client.ended
  else if (sendsRole(dialect)) await client.until(() => client.roles.at(-1) === 'viewer')
  return undisturbedNow()
}

const longest = new Map<string, number>()
const noteTime = (cause: string, ms: number) => longest.set(cause, Math.max(longest.get(cause) ?? 0, ms))

afterAll(() => {
  const lines = [...longest].map(([cause, ms]) => `${ms.toFixed(0).padStart(5)} ms  ${cause}`)
  // oxlint-disable-next-line no-console -- the times are part of the result
  console.log(['Longest time from the answer until a client was notified:', ...lines].join('\n'))
})

/** Expects that clients get the reason of their close, and at `/realtime` also the reason of refused writes. */
function expectReasons(actors: readonly Actor[], effect: Consequence): void {
  if (effect === 'viewer') {
    expect(byEditor(actors, ({ client }) => client.ending)).toEqual(byEditor(actors, () => undefined))
    const why: Record<Dialect, string[]> = {
      yjs: [],
      'y-sweet': [],
      hocuspocus: [],
      realtime: [readOnly, `PERMISSION_DENIED: ${readOnly}`],
    }
    expect(byEditor(actors, ({ client }) => new Set(client.refusalTexts))).toEqual(
      byEditor(actors, ({ behavior, dialect }) => new Set(behavior === 'idle' ? [] : why[dialect])),
    )
    return
  }
  const { code, reason } = effect
  expect(byEditor(actors, ({ client }) => client.ending)).toEqual(
    byEditor(actors, ({ dialect }) => endingIn(dialect, code, reason)),
  )
  // Messages that arrive after the close are answered one by one.
  const texts = ({ client }: Actor) => client.refusalTexts.filter((one) => !one.startsWith('NOT_FOUND'))
  expect(byEditor(actors, texts)).toEqual(
    byEditor(actors, ({ dialect }) => refusalTextsOf(dialect, reason, true)),
  )
}

/** Expects that the document contains nothing that was sent after the answer. */
async function expectStored({ server, tenant }: Stage, actors: readonly Actor[], documentId: string) {
  const { data } = await tenant.client.crdt.get({ organizationId: 'o1', documentId })
  const words = new Set(data.flatMap((editor) => wordsIn(textIn(editor))))
  words.delete('during.update')
  words.delete('during.step')
  expect(words).toEqual(new Set(['before.update', 'before.step']))
  const observer = new Observer(server, tenant, { organizationId: 'o1', documentId, editorIds: [] })
  await observer.ready
  await observer.settled()
  observer.terminate()
  const states = [...observer.liveStates].filter((id) => !id.startsWith('during'))
  const setters = actors.filter(({ dialect, behavior }) => dialect === 'realtime' && behavior !== 'new')
  expect(new Set(states)).toEqual(new Set(setters.map(({ editorId }) => `before.${editorId}`)))
}

/** Revokes access while the actors work, and expects the effect on each of them. */
async function revoke(
  stage: Stage,
  actors: readonly Actor[],
  { effect, act, cause }: Pick<Revocation, 'effect' | 'act' | 'cause'>,
): Promise<void> {
  expect(await firstAnswers(actors)).toEqual(byEditor(actors, ({ dialect }) => acceptedAs(dialect, 'editor')))
  const actorsThatAre = (...some: Behavior[]) => actors.filter(({ behavior }) => some.includes(behavior))
  expect(await outcomes(actorsThatAre('idle', 'writing', 'typing'), 'before')).toEqual(new Set(['saved']))

  const notifying = actors.map((actor) => notifiedAt(actor, effect))
  const acting = act(stage)
  for (const { client } of actorsThatAre('typing')) void writeAll(client, 'during')
  await acting
  const answeredAt = undisturbedNow()
  const writing = outcomes(actorsThatAre('writing', 'new'), 'after')
  await outcomes(actorsThatAre('typing'), 'after')
  for (const outcome of await writing) expect(outcome).toBe('refused')

  for (const at of await Promise.all(notifying)) noteTime(cause, at - answeredAt)
  await Promise.all(actors.map(({ client }) => client.flushed()))
  expectReasons(actors, effect)
}

describe.each(stores)('revoked access on %s', (store) => {
  const server = useServer(store, { isOwn: true })

  test.each(revocations)(
    '[R9] [R9.1] [R9.2] $cause takes effect before the next message of a client',
    async (revocation) => {
      const stage = await stageFor(server, revocation)
      const actors = connect(server, stage)
      await revoke(stage, actors, revocation)
      const { effect, undo, leftIn = 'd1' } = revocation
      if (effect === 'viewer') {
        const reads = await Promise.all(actors.map(({ client }) => client.read()))
        for (const [index, text] of reads.entries()) {
          const words = wordsIn(text ?? 'nothing')
          if (actors[index]?.behavior === 'new') expect(words).toEqual([])
          else expect(words).toEqual(expect.arrayContaining(['before.step', 'before.update']))
        }
      } else if (effect.code === 4404) {
        const { data } = await stage.client.documents.get({ organizationId: 'o1' })
        expect(data.map(({ id }) => id)).toEqual(leftIn === null ? [] : [leftIn])
      } else {
        const again = connect(server, stage)
        expect(await firstAnswers(again)).toEqual(
          byEditor(again, ({ dialect }) => endingIn(dialect, effect.code, effect.reason)),
        )
      }

      await undo?.(stage)
      const undoneAt = undisturbedNow()
      if (leftIn !== null) await expectStored(stage, actors, leftIn)
      if (!undo) return
      if (effect === 'viewer') {
        await Promise.all(
          actors.map(async ({ client, dialect }) => {
            if (sendsRole(dialect)) await client.until(() => client.roles.at(-1) === 'editor')
          }),
        )
        noteTime(`${revocation.cause}, undone`, undisturbedNow() - undoneAt)
        expect(await outcomes(actors, 'again')).toEqual(new Set(['saved']))
      } else {
        const again = connect(server, stage)
        expect(await firstAnswers(again)).toEqual(
          byEditor(again, ({ dialect }) => acceptedAs(dialect, 'editor')),
        )
        expect(await outcomes(again, 'again')).toEqual(new Set(['saved']))
      }
    },
  )

  test.each(revocations.filter(({ byTime }) => byTime))(
    '[R9] $cause is reported to idle clients',
    async (revocation) => {
      const stage = await stageFor(server, revocation)
      const cause = `${revocation.cause}, with idle clients only`
      await revoke(stage, connect(server, stage, ['idle']), { ...revocation, cause })
    },
  )

  test('[R9] a client that connects during a revocation writes nothing after it', async () => {
    const removal = revocations.find(({ cause }) => cause === 'Remove Permissions') as Revocation
    let openedCount = 0
    for (let round = 0; round < 12; round++) {
      const stage = await stageFor(server, removal)
      const connecting = connect(server, stage, ['new'])
      const opening = connecting.map(({ client }) => client.opened())
      const early = outcomes(connecting, 'during')
      // The clients are connecting, waiting for access, or already connected, depending on the round.
      const { socket } = (connecting[round % 3] as Actor).client
      if (round % 4 === 1) await once(socket, 'open')
      else if (round % 4 > 1) await opening[round % 3]
      await removal.act(stage)
      await Promise.all([early, outcomes(connecting, 'after')])
      openedCount += (await Promise.all(opening)).filter((one) => !('reason' in one)).length
      const endings = await Promise.all(connecting.map(({ client }) => client.ended))
      expect(new Set(endings.map(({ reason }) => reason))).toEqual(
        new Set(['The user may not open this document.']),
      )
      const { data } = await stage.client.crdt.get(documentRef)
      const words = data.flatMap((editor) => wordsIn(textIn(editor)))
      expect(words.filter((word) => word.startsWith('after'))).toEqual([])
    }
    expect(openedCount).toBeGreaterThan(0)
  })

  test('[R9.1] [1.7] resetting an auth token closes backends and keeps users connected, and only the new token opens documents', async () => {
    const stage = await stageFor(server, { cause: '', act: () => Promise.resolve(), effect: 'viewer' })
    const { client, tenant, token } = stage
    const { headers, apiKey } = tenant
    const users = connect(server, { token }, ['idle'])
    expect(await firstAnswers(users)).toEqual(byEditor(users, ({ dialect }) => acceptedAs(dialect, 'editor')))
    const backends = connect(server, { headers }, ['writing', 'typing', 'new'])
    let newToken = ''
    await revoke(stage, backends, {
      cause: 'a reset auth token',
      act: async () => {
        newToken = (await client.authTokens.reset({ apiKey })).data.newAuthToken.token
      },
      effect: { code: 4401, reason: 'token_invalid: The auth token was reset.' },
    })
    expect(await outcomes(users, 'still')).toEqual(new Set(['saved']))

    // A socket that stays open cannot open another document.
    for (const { client } of backends) {
      const answer = await client.openAnother({ ...documentRef, documentId: 'd2', editorId: 'x' })
      if (answer !== undefined) expect(answer).toContain('token_invalid: The token is not accepted any more.')
    }
    const renewedClient = server.client({ apiKey, authToken: newToken })
    expect((await renewedClient.documents.get({ organizationId: 'o1' })).data).toHaveLength(1)
    const again = connect(server, { headers })
    expect(await firstAnswers(again)).toEqual(
      byEditor(again, () => ({ code: 4401, reason: 'token_invalid: Invalid API key or auth token.' })),
    )
    const renewed = connect(server, { headers: { ...headers, 'x-svc-auth-token': newToken } })
    expect(await firstAnswers(renewed)).toEqual(
      byEditor(renewed, ({ dialect }) => acceptedAs(dialect, 'editor')),
    )
  })
})
