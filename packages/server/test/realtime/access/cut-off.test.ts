import { once } from 'node:events'
import { afterAll, describe, expect, test } from 'vitest'
import { type Revocation, revocations, stageFor } from '../../support/access/revocations.ts'
import { anyStore, stores, useServer } from '../../support/harness.ts'
import { textIn, wordsIn } from '../../support/random/words.ts'
import {
  acceptedAs,
  type Actor,
  byEditor,
  connect,
  documentRef,
  expectRevoked,
  firstAnswers,
  outcomes,
  revoke,
  showTimes,
} from './cut-off.ts'

/** One cause of each effect, for the other database. `cut-off.long.test.ts` runs all of them, with more clients. */
const sample = ['a lesser role by Add Permissions', 'Remove Permissions', 'a document that is migrated']

afterAll(showTimes)

describe.each(stores)('revoked access on %s', (store) => {
  const server = useServer(store, { isOwn: true })

  test.each(revocations.filter(({ cause }) => store === anyStore || sample.includes(cause)))(
    '[R9] [R9.1] [R9.2] $cause takes effect before the next message of a client',
    (revocation) => expectRevoked(server, revocation, revocations.indexOf(revocation)),
  )

  test.each(revocations.filter(({ byTime }) => byTime && store === anyStore))(
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
    for (let round = 0; round < 6; round++) {
      const stage = await stageFor(server, removal)
      const connecting = connect(server, stage, ['new'])
      const opening = connecting.map(({ client }) => client.opened())
      const early = outcomes(connecting, 'during')
      // The clients are connecting, waiting for access, or already connected, depending on the round.
      const { socket } = (connecting[round % 4] as Actor).client
      if (round % 3 === 1) await once(socket, 'open')
      else if (round % 3 === 2) await opening[round % 4]
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
    const again = connect(server, { headers }, ['idle'])
    expect(await firstAnswers(again)).toEqual(
      byEditor(again, () => ({ code: 4401, reason: 'token_invalid: Invalid API key or auth token.' })),
    )
    const renewed = connect(server, { headers: { ...headers, 'x-svc-auth-token': newToken } }, ['idle'])
    expect(await firstAnswers(renewed)).toEqual(
      byEditor(renewed, ({ dialect }) => acceptedAs(dialect, 'editor')),
    )
  })
})
