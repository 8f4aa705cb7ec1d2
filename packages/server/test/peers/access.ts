import { expect } from 'vitest'
import { endingIn } from '../support/access/probe.ts'
import { type Revocation, stageFor } from '../support/access/revocations.ts'
import { type RawClient } from '../support/clients/raw-client.ts'
import { type Dialect, dialects, rawClient, sendsRole } from '../support/clients/raw-clients.ts'
import type { TestServer } from '../support/harness.ts'
import { textIn, wordsIn, wordUpdate } from '../support/random/words.ts'

export const documentRef = { organizationId: 'o1', documentId: 'd1' }

/** Resolves when the client knows that it may not write any more. */
async function notified(client: RawClient, dialect: Dialect, { effect }: Revocation): Promise<void> {
  if (effect !== 'viewer') await client.ended
  else if (sendsRole(dialect)) await client.until(() => client.roles.at(-1) === 'viewer')
}

/** Expects that a revocation over the near server takes effect on clients of the far one. */
export async function expectRevokedOver(
  near: TestServer,
  far: TestServer,
  revocation: Revocation,
): Promise<void> {
  const stage = await stageFor(near, revocation)
  far.clock.offsetMs = near.clock.offsetMs
  const clients = dialects.map((dialect) => ({
    dialect,
    client: rawClient(far, dialect, { ...documentRef, editorId: dialect, token: stage.token }),
  }))
  await Promise.all(clients.map(({ client }) => client.opened()))
  const before = clients.map(({ client }) => client.update(wordUpdate('before')))
  expect(new Set(await Promise.all(before))).toEqual(new Set(['saved']))

  const notifying = clients.map(({ client, dialect }) => notified(client, dialect, revocation))
  await revocation.act(stage)
  await Promise.all(notifying)
  // A client whose protocol has no message for its role may write until its server knows of the change.
  await far.server.catchUp()
  const after = await Promise.all(clients.map(({ client }) => client.update(wordUpdate('after'))))
  expect(new Set(after)).toEqual(new Set(['refused']))
  if (revocation.effect !== 'viewer') {
    const { code, reason } = revocation.effect
    const codes = clients.map(({ client }) => client.ending?.code)
    expect(codes).toEqual(dialects.map((dialect) => endingIn(dialect, code, reason).code))
  }
  const { leftIn = 'd1' } = revocation
  if (leftIn === null) return
  const { data } = await stage.client.crdt.get({ organizationId: 'o1', documentId: leftIn })
  expect(new Set(data.flatMap((editor) => wordsIn(textIn(editor))))).toEqual(new Set(['before']))
}
