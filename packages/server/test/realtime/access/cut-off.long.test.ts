import { afterAll, describe, test } from 'vitest'
import { revocations } from '../../support/access/revocations.ts'
import { stores, useServer } from '../../support/harness.ts'
import { expectRevoked, showTimes } from './cut-off.ts'

afterAll(showTimes)

describe.each(stores)('revoked access on %s', (store) => {
  const server = useServer(store, { isOwn: true })

  test.each(revocations)(
    '[R9] [R9.1] [R9.2] $cause takes effect before the next message of a client',
    (revocation) => expectRevoked(server, revocation),
  )
})
