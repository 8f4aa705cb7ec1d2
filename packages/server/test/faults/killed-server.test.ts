import { createClient } from '@plenum/client'
import { expect, test } from 'vitest'
import { DocumentView, RealtimeSocket } from '../support/clients/realtime-socket.ts'
import * as given from '../support/given.ts'
import { createPostgresDatabase, secretKey } from '../support/harness.ts'
import { startProcess } from '../support/processes/process.ts'
import { tokenFor } from '../support/access/user-tokens.ts'

test('[B4.3] the users of a server that is killed disappear on another one, and its own users stay', async () => {
  // Its clock is 10 times as fast.
  const env = {
    SECRET_KEY: secretKey,
    DATABASE_URL: await createPostgresDatabase(),
    TEST_CLOCK_FROM: String(Date.now()),
  }
  const [doomed, other] = await Promise.all([
    startProcess('fastServer', env),
    startProcess('fastServer', env),
  ])
  const tenant = await given.tenant({ client: (options) => createClient({ url: other.url, ...options }) })
  const enter = async (server: typeof other, userId: string) => {
    const socket = await RealtimeSocket.connect(server, await tokenFor(tenant, userId))
    const view = new DocumentView(socket)
    await socket.open()
    return view
  }
  const view = await enter(other, 'bob')
  await enter(doomed, 'ada')
  await expect.poll(() => view.present).toEqual({ ada: 'online', bob: 'online' })
  await doomed.kill()
  await expect.poll(() => view.present).toEqual({ bob: 'online' })
})
