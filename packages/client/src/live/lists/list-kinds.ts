import type { ListedDocument, Person } from '../../operations/index.ts'
import type { Result } from '../../platform/call.ts'
import type { UserOperations } from '../calls/socket-calls.ts'

type Page<Item> = Result<Item[]> & { nextPageToken?: string }

/** What differs between the lists. */
export interface ListKind<Item> {
  readonly list: 'documents' | 'people'
  /** The name of the filter by id. */
  readonly filter: string
  idOf(this: void, item: Item): string
  /** Negative: `a` comes before `b`. */
  compare(this: void, a: Item, b: Item): number
  /** When the item may go without a change, in Unix seconds. */
  accessUntil?(this: void, item: Item): number | undefined
  read(operations: UserOperations, input: { organizationId: string }): Promise<Page<Item>>
}

const compareText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

/** Newest first. */
export const documentKind: ListKind<ListedDocument> = {
  list: 'documents',
  filter: 'documentIds',
  idOf: ({ documentId }) => documentId,
  compare: (a, b) => b.createdAt - a.createdAt || compareText(b.documentId, a.documentId),
  accessUntil: (document) => document.accessUntil,
  read: (operations, input) => operations.documents.list(input),
}

/** By id. */
export const peopleKind: ListKind<Person> = {
  list: 'people',
  filter: 'userIds',
  idOf: ({ userId }) => userId,
  compare: (a, b) => compareText(a.userId, b.userId),
  read: (operations, input) => operations.users.list(input),
}
