/** An endpoint of the advanced webhooks. */
export interface WebhookEndpointTable {
  api_key: string
  endpoint_id: string
  url: string
  description: string | null
  /** JSON array of the dotted names of events. Null: all events. */
  filter_types: string | null
  /** JSON array of organization ids. Null: all organizations. */
  channels: string | null
  disabled: number
  /** Why the server disabled the endpoint. Null: it did not. */
  disabled_reason: string | null
  /** Deliveries per second. */
  rate_limit: number | null
  /** The id that the caller chose. */
  uid: string | null
  /** JSON. */
  metadata: string | null
  /** The sealed secret that signs deliveries. */
  secret: Uint8Array
  /** The sealed secret before the last rotation. It signs too, until `previous_until`. */
  previous_secret: Uint8Array | null
  previous_until: number | null
  created_at: number
  updated_at: number
}
