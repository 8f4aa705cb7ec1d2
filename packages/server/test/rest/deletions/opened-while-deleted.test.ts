import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'
import { eventually, synced } from '../../support/clients/convergence.ts'
import { closeClients } from '../../support/clients/open-clients.ts'
import { yjsClient } from '../../support/clients/yjs-client.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'

afterEach(closeClients)

describe.each(stores)('documents deleted while clients open them, on %s', (store) => {
  const server = useServer(store)

  test('[0.8.1] [R7] a client that opens a deleted document recreates it, and the text that the client types is stored', async () => {
    const tenant = await given.tenant(server)
    const token = await tokenFor(tenant)
    for (let round = 0; round < 16; round++) {
      const document = { organizationId: 'org_1', documentId: `doc_${round}` }
      const name = `org_1/doc_${round}/content`
      const remove = () =>
        tenant.client.documents
          .delete({ organizationId: 'org_1', documentIds: [document.documentId] })
          .catch(() => undefined)
      // The pauses differ between rounds, so that different steps of opening and deleting overlap.
      for (let early = 0; early < 4; early++) yjsClient(server, token, { name })
      await pause(round % 8)
      await Promise.all([remove(), pause(1).then(remove), pause(3).then(remove)])
      closeClients()

      const ada = yjsClient(server, token, { name })
      const codes: (number | undefined)[] = []
      ada.provider.on('connection-close', (event) => codes.push(event?.code))
      await synced(ada)
      ada.text.insert(0, 'typed')
      const stored = async () =>
        (await tenant.client.crdt.get(document).catch(() => undefined))?.data[0]?.data
      await eventually(async () => codes.length > 0 || (await stored()) === 'typed').toBe(true)
      expect(codes).toEqual([])
      closeClients()
    }
  })
})
