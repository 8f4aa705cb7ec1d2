import { hash } from 'node:crypto'
import type * as given from '../../support/given.ts'

export const hashOf = (value: string) => hash('sha256', value, 'hex').slice(0, 32)

/** Ids of the notifications in the user's inbox, newest first. */
export const inbox = async ({ client }: given.Tenant, userId: string) =>
  (await client.notifications.get({ organizationId: 'org_1', userId })).data.map((one) => one.id)
