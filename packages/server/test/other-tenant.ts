import * as given from './given.ts'
import type { TestServer } from './harness.ts'

/** Another tenant writes without pause until the returned function is called, which gives how often it could. */
export async function writesOfOther(server: TestServer): Promise<() => Promise<number>> {
  const other = await given.tenant(server)
  await given.organization(other, 'o')
  let isRunning = true
  let writes = 0
  const done = (async () => {
    for (; isRunning; writes++)
      await other.client.organizations.update({ organizations: [{ organizationId: 'o', writes }] })
  })()
  return async () => {
    isRunning = false
    await done
    return writes
  }
}
