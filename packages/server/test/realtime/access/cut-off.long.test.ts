import { afterAll, describe, test } from 'vitest'
import { revocations } from '../../support/access/revocations.ts'
import { useServer } from '../../support/harness.ts'
import { expectRevoked, showTimes } from './cut-off.ts'

afterAll(showTimes)

describe('revoked access on postgres', () => {
  const server = useServer('postgres', { isOwn: true })

  test.each(revocations)(
    '[R9] [R9.1] [R9.2] $cause takes effect before the next message of a client',
    (revocation) => expectRevoked(server, revocation),
  )
})
