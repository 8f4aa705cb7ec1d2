/** What is delivered, once for all receivers. */
export interface DeliveryMessageTable {
  api_key: string
  /** Receivers get the same id with every attempt. */
  message_id: string
  event: string
  /** JSON, depending on the channel. */
  data: string
  created_at: number
}

/** A message that waits for the next digest of a user. */
export interface DigestItemTable {
  api_key: string
  organization_id: string
  user_id: string
  message_id: string
  email: string
  created_at: number
}

/** A message for one receiver. */
export interface DeliveryTable {
  api_key: string
  delivery_id: string
  message_id: string
  channel: 'webhook' | 'basicWebhook' | 'email'
  /** The id of an endpoint, the name of a URL of the basic webhook, or an email address. */
  target: string
  /** The user whom an email is for. */
  user_id: string | null
  event: string
  status: 'pending' | 'delivered' | 'failed' | 'cancelled'
  /** Attempts that have ended. */
  attempts: number
  /** When the next attempt is due; null if there is none. */
  next_at: number | null
  last_at: number | null
  /** The status code of the last answer. */
  last_code: number | null
  last_answer: string | null
  last_error: string | null
  created_at: number
}
