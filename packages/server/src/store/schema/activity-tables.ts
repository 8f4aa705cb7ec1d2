export interface ActivityTable {
  api_key: string
  organization_id: string
  activity_id: string
  /** The document may be deleted: immutable activities stay (spec 10.4.1). */
  document_id: string
  timestamp: number
  feature_type: 'comment' | 'reaction' | 'recorder' | 'crdt' | 'custom'
  action_type: string
  /** The user who acted. */
  user_id: string
  target_entity_id: string | null
  /** The comment thread that the activity is about. */
  annotation_id: string | null
  /** JSON: who may see the activity. Null: everyone who may read the document. */
  audience: string | null
  immutable: number
  /** JSON: the activity as it is returned, without the columns. It is last, because SQLite reads columns in their order. */
  data: string
}
