export interface NotificationTable {
  api_key: string
  organization_id: string
  /** The key of the row and of its recipients: the public id, or the public id with `!` and a suffix. */
  notification_id: string
  /** Null while the notification is hidden, because it is written or removed in steps. */
  public_id: string | null
  document_id: string
  location_id: string | null
  /** The annotation that the notification is about. */
  annotation_id: string | null
  /** JSON: the notification as it is returned, without the columns and the recipients. */
  data: string
  timestamp: number
}

export interface NotificationRecipientTable {
  api_key: string
  organization_id: string
  notification_id: string
  /** The user id, or the lower-case address of a recipient without a known user id. */
  recipient: string
  /** Whether `recipient` is an address. */
  by_email: number
  /** Lower-case address; null if it was not known when the notification was added. */
  email: string | null
  /** Whether the caller named the recipient. Other recipients are reached as users of the organization. */
  named: number
  is_read: number
  /** Whether the notification is in the user's personal list. */
  for_you: number
  /** The notification's timestamp, so that an index returns an inbox in its order. */
  timestamp: number
}

export interface NotificationConfigTable {
  api_key: string
  organization_id: string
  /** Empty for the choice that applies to the whole organization. */
  document_id: string
  user_id: string
  /** JSON: channel → ALL, MINE or NONE. */
  config: string
}

/** A notification about an event, before it is delivered: it waits for its delay and its batch, or for its recipients. */
export interface PendingNotificationTable {
  api_key: string
  organization_id: string
  /** The public id that the notification will have. */
  notification_id: string
  document_id: string
  annotation_id: string
  comment_id: number | null
  /** The name of the event. */
  name: string
  /** The user who caused the event. */
  actor_id: string | null
  /** The number of the document's change that caused the event. */
  seq: number
  /** The job that delivers it. */
  job_id: string
  /** When its batch ends. Null: it is in no batch. */
  deliver_at: number | null
  /** Whether it is put into inboxes, and whether it is sent by email. */
  to_inbox: number
  to_email: number
}
