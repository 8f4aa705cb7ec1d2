export interface NotificationTable {
  api_key: string
  organization_id: string
  /** The key of its rows: the public id, or the public id with `!` and a suffix. */
  notification_id: string
  /** Null: hidden, because it is being written or removed in steps. */
  public_id: string | null
  document_id: string
  location_id: string | null
  /** JSON: the notification as it is read, without what the columns and the recipients say. */
  data: string
  timestamp: number
}

export interface NotificationRecipientTable {
  api_key: string
  organization_id: string
  notification_id: string
  /** The user id, or the lower-case address of a recipient who is known by address only. */
  recipient: string
  /** Whether `recipient` is an address. */
  by_email: number
  /** Lower-case address, as far as it was known when the notification was added. */
  email: string | null
  /** Named by the caller, and not only reached with all users of the organization. */
  named: number
  is_read: number
  /** Stands in the user's personal list. */
  for_you: number
  /** That of the notification, so that an inbox is read in its order. */
  timestamp: number
}

export interface NotificationConfigTable {
  api_key: string
  organization_id: string
  /** Empty for the organization's default. */
  document_id: string
  user_id: string
  /** JSON: channel → ALL, MINE or NONE. */
  config: string
}
