import type { Db } from '../store/db.ts'
import * as domains from '../store/domains.ts'
import { originAllowed } from './domains.ts'

/** Pages of the server itself may use every API key: they are part of it. `host` is the header of that name. */
export const isOwnPage = (origin: string, host: string | undefined): boolean =>
  URL.canParse(origin) && new URL(origin).host === host

/** Whether a connection with this `Origin` may use the API key (spec 2). Only browsers send one. */
export async function originMayConnect(
  db: Db,
  apiKey: string,
  origin: string | undefined,
  host?: string,
): Promise<boolean> {
  if (origin === undefined || isOwnPage(origin, host)) return true
  return originAllowed(origin, await domains.all(db, apiKey))
}
