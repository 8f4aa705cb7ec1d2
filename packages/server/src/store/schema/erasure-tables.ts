/** An erasure of all data of some users. It is kept for 30 days after its end. */
export interface ErasureTable {
  api_key: string
  erasure_id: string
  /** JSON array. Empty once the erasure is complete: nothing of the users is kept. */
  user_ids: string
  /** JSON array; null if the erasure is not limited to some organizations. */
  organization_ids: string | null
  /** JSON: where the erasure continues; null before it has begun. */
  position: string | null
  /** One task for each user and organization. */
  tasks_count: number
  tasks_left: number
  last_task_completed_at: number | null
  completed_at: number | null
  created_at: number
}
