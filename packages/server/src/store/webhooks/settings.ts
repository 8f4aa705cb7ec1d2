import { type EventName, enabledEvents, type Triggers } from '@plenum/protocol'
import type { Db } from '../engine/db.ts'
import { parse } from '../engine/json.ts'
import { prepared } from '../engine/prepared.ts'

/** How the body of a webhook is sealed (spec 24.7), and whether texts and names are left out of it. */
export interface WebhookBodySettings {
  encodeData?: boolean
  encryptData?: boolean
  /** Base64. It was checked when it was stored. */
  publicKey?: string
  enableDataProtection?: boolean
}

/** The stored settings of the basic webhooks, without their auth token. */
export interface BasicWebhookSettings extends WebhookBodySettings {
  rawNotificationUrl?: string
  processedNotificationUrl?: string
  triggers?: Triggers
}

/** What the webhooks of an API key act on. */
interface WebhookSwitches {
  /** The basic webhooks, if they are on. */
  basic: { events: ReadonlySet<EventName>; rawUrl: string; processedUrl: string } | undefined
  /** Whether the advanced webhooks are on. */
  isAdvancedOn: boolean
}

const selectEnabled = prepared(
  (db, { apiKey }: { apiKey: string }) =>
    db
      .selectFrom('service_configs')
      .select(['service', 'config'])
      .where('api_key', '=', apiKey)
      .where('service', 'in', ['webhook', 'advancedWebhook'])
      .where('enabled', '=', 1),
  { isSmallRead: true },
)

/** Reads what is switched on, with one query: every transaction that records events asks for it. */
export async function findSwitches(db: Db, apiKey: string): Promise<WebhookSwitches> {
  const rows = await selectEnabled(db, { apiKey })
  const basic = rows.find(({ service }) => service === 'webhook')
  return {
    basic: basic && basicOf(parse<BasicWebhookSettings>(basic.config)),
    isAdvancedOn: rows.some(({ service }) => service === 'advancedWebhook'),
  }
}

const basicOf = ({ triggers, rawNotificationUrl, processedNotificationUrl }: BasicWebhookSettings) => ({
  events: enabledEvents(triggers ?? {}),
  rawUrl: rawNotificationUrl ?? '',
  processedUrl: processedNotificationUrl ?? '',
})
