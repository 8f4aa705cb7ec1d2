import type { User } from '@plenum/protocol'
import type { Cursor } from '../engine/db.ts'

/** A user in a list of users, with the columns that the list is ordered by. */
export interface Member {
  user: User
  /** The organization, folder or document that the user is granted. */
  resourceId: string
  createdAt: number
}

/** Which users a list shows. All given conditions must hold. */
export interface MemberFilter {
  userIds?: readonly string[]
  /** The user is a member of any of these groups. */
  groupIds?: readonly string[]
}

/** One page of a list of users. */
export interface MemberPage {
  filter: MemberFilter
  limit: number
  after: Cursor | undefined
  now: number
  /** Runs each statement when its turn has come: there may be many. */
  query: <T>(statement: () => Promise<T>) => Promise<T>
}
