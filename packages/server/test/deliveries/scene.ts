import type { Client, Delivery } from '@plenum/client'
import { expect } from 'vitest'
import * as given from '../support/given.ts'
import type { ServerOptions, TestServer } from '../support/harness.ts'

export const organizationId = 'org_1'
export const documentId = 'doc_1'
export const ref = { organizationId, documentId }

/** The receivers of the tests have private addresses. Retries are found at once. */
export const options = {
  jobPollMs: 20,
  env: { OUTGOING_PRIVATE_ADDRESSES: 'allowed' },
} satisfies ServerOptions

/** A tenant with a document and the users Ada and Grace. */
export async function scene(server: TestServer) {
  const tenant = await given.tenant(server)
  const { client } = tenant
  await given.document(tenant, documentId)
  await client.users.add({
    organizationId,
    users: [
      { userId: 'ada', name: 'Ada Lovelace', email: 'ada@example.com' },
      { userId: 'grace', name: 'Grace Hopper', email: 'grace@example.com' },
    ],
  })
  const addThread = (annotationId: string, commentText = 'Please check.', more: object = {}) =>
    client.commentAnnotations.add({
      ...ref,
      commentAnnotations: [
        {
          annotationId,
          commentData: [{ commentText, from: { userId: 'ada' }, triggerNotification: true }],
          ...more,
        },
      ],
    })
  const addEndpoint = async (fields: Parameters<Client['webhookEndpoints']['create']>[0]) => {
    await client.advancedWebhookConfig.update({ isEnabled: true })
    return (await client.webhookEndpoints.create(fields)).data.id
  }
  const deliveries = async (filter: { status?: Delivery['status']; target?: string } = {}) =>
    (await client.deliveries.get(filter)).data
  /** Waits until the only delivery that fits has this state. */
  const expectOne = (filter: { target?: string }, expected: Partial<Delivery>) =>
    expect.poll(() => deliveries(filter)).toMatchObject([expected])
  /** What the log says about deliveries that are not tried again. */
  const loggedFailures = () =>
    server.logged
      .map((line) => JSON.parse(line))
      .filter(
        ({ msg, apiKey }) => msg === 'a delivery failed and is not tried again' && apiKey === tenant.apiKey,
      )
  return { ...tenant, loggedFailures, addThread, addEndpoint, deliveries, expectOne }
}
