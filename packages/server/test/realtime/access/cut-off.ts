import { expect } from 'vitest'
import { endingIn, isNoAnswer, refusalTextsOf } from '../../support/access/probe.ts'
import type { TestServer } from '../../support/harness.ts'
import { undisturbedNow } from '../../support/measures/processor-time.ts'
import { type EditorTarget, type RawClient } from '../../support/clients/raw-client.ts'
import { type Dialect, dialects, rawClient, sendsRole } from '../../support/clients/raw-clients.ts'
import { RawRealtime } from '../../support/clients/raw-realtime.ts'
import { type Consequence, type Revocation, type Stage, stageFor } from '../../support/access/revocations.ts'
import { Observer } from '../../support/clients/observer.ts'
import { textIn, wordsIn, wordUpdate } from '../../support/random/words.ts'

export const documentRef = { organizationId: 'o1', documentId: 'd1' }
const readOnly = 'The user may read this document, but not change it.'

/**
 * All but `new` write before the revocation. Then `idle` sends nothing and must be notified, `writing` writes right after
 * the answer to the revocation, and `typing` writes during the revocation and after the answer. `new` has an editor open
 * that is still empty, and writes right after the answer.
 */
const behaviors = ['idle', 'writing', 'typing', 'new'] as const
type Behavior = (typeof behaviors)[number]

export interface Actor {
  dialect: Dialect
  behavior: Behavior
  editorId: string
  client: RawClient
}

type Credentials = Pick<EditorTarget, 'token' | 'headers'>

/** Every dialect with two behaviors. Over two turns every dialect has all. */
const pairs = (turn: number) => (dialect: number) =>
  behaviors.filter((_, behavior) => (behavior + dialect + turn) % 2 === 0)

type Behaviors = (dialect: number) => readonly Behavior[]
const all: Behaviors = () => behaviors

export const connect = (
  server: TestServer,
  by: Credentials,
  as: readonly Behavior[] | Behaviors = all,
): Actor[] =>
  dialects.flatMap((dialect, index) =>
    (typeof as === 'function' ? as(index) : as).map((behavior) => {
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
export async function firstAnswers(actors: readonly Actor[]): Promise<Record<string, unknown>> {
  const found = await Promise.all(actors.map(({ client }) => client.opened()))
  return Object.fromEntries(actors.map(({ editorId }, index) => [editorId, found[index]]))
}

/** Keys the values by editor, so a failure names the editor. */
export const byEditor = <T>(actors: readonly Actor[], value: (actor: Actor) => T): Record<string, T> =>
  Object.fromEntries(actors.map((actor) => [actor.editorId, value(actor)]))

export const acceptedAs = (dialect: Dialect, role: string) => (sendsRole(dialect) ? { role } : {})

/** Sends every kind of write at once and returns the result of each. */
function writeAll(client: RawClient, word: string): Promise<string[]> {
  return Promise.all([
    client.update(wordUpdate(`${word}.update`)),
    client.syncStep2(wordUpdate(`${word}.step`)),
    ...(client instanceof RawRealtime ? [client.setLiveState(`${word}.${client.target.editorId}`, {})] : []),
  ])
}

export async function outcomes(actors: readonly Actor[], word: string): Promise<Set<string>> {
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

/** Shows the longest times of this file. */
export function showTimes(): void {
  const lines = [...longest].map(([cause, ms]) => `${ms.toFixed(0).padStart(5)} ms  ${cause}`)
  // oxlint-disable-next-line no-console -- the times are part of the result
  console.log(['Longest time from the answer until a client was notified:', ...lines].join('\n'))
}

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
  const texts = ({ client }: Actor) => client.refusalTexts.filter(isNoAnswer(reason))
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
export async function revoke(
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

/**
 * Expects that the revocation takes effect on clients of all dialects, and ends when the access is given back. With a turn,
 * the clients of each dialect have half of the behaviors.
 */
export async function expectRevoked(
  server: TestServer,
  revocation: Revocation,
  turn?: number,
): Promise<void> {
  const stage = await stageFor(server, revocation)
  const actors = connect(server, stage, turn === undefined ? all : pairs(turn))
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
    const again = connect(server, stage, ['idle'])
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
    const again = connect(server, stage, ['idle'])
    expect(await firstAnswers(again)).toEqual(byEditor(again, ({ dialect }) => acceptedAs(dialect, 'editor')))
    expect(await outcomes(again, 'again')).toEqual(new Set(['saved']))
  }
}
