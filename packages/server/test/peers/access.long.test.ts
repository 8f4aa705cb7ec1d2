import { afterEach, describe, test } from 'vitest'
import { revocations } from '../support/access/revocations.ts'
import { closeClients } from '../support/clients/open-clients.ts'
import { linksThatConnect } from '../support/servers/links.ts'
import { useTwoServers } from '../support/servers/two-servers.ts'
import { expectRevokedOver } from './access.ts'

afterEach(closeClients)

describe.each(linksThatConnect)('access that is taken away over another server (%s)', (kind) => {
  const [near, far] = useTwoServers(kind)

  // Time passes on all servers by itself.
  test.each(revocations.filter(({ byTime }) => !byTime))(
    '[B3] [R9] $cause takes effect on every server',
    (revocation) => expectRevokedOver(near, far, revocation),
  )
})
