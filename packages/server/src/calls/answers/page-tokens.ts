import { createHmac, hash, timingSafeEqual } from 'node:crypto'
import { ApiError } from '@plenum/protocol'
import type { Cursor } from '../../store/engine/db.ts'

/** A page that a caller asks for. */
export interface Page {
  /** The maximum number of rows on the page. */
  readonly size: number
  /** The page starts after this row: the values of the columns that the list is ordered by. */
  readonly after: Cursor | undefined
}

interface PageInput {
  pageSize?: number
  pageToken?: string
}

/** The pages of one list, which one caller reads with one operation. Page tokens are signed (spec 0.5). */
export interface Pages {
  /**
   * Reads which page the input asks for. All fields but `pageSize` and `pageToken` are filters. Default size: 1000. Throws if
   * the token belongs to another caller, operation or filter.
   */
  requested(input: PageInput & Record<string, unknown>, defaultSize?: number): Page
  /** The token of the page after this row. Call `requested` before, because the token is bound to the filters. */
  tokenAfter(row: Cursor): string
  /** The rows of a page, and the token of the next page if there is one: then `rows` has one row more than the page. */
  withNextToken<T>(
    rows: readonly T[],
    page: Page,
    cursor: (row: T) => Cursor,
  ): { items: readonly T[]; nextPageToken?: string }
}

export function createPages(signingKey: Buffer, callerScope: string, operationName: string): Pages {
  let filters: Record<string, unknown> = {}
  const sign = (cursor: string) => {
    const filter = hash('sha256', JSON.stringify(Object.entries(filters).sort()))
    return createHmac('sha256', signingKey)
      .update(`${callerScope}\n${operationName}\n${filter}\n${cursor}`)
      .digest()
      .subarray(0, 16)
  }

  const tokenAfter = (row: Cursor) => {
    const next = JSON.stringify(row)
    return Buffer.concat([sign(next), Buffer.from(next)]).toString('base64url')
  }

  return {
    tokenAfter,
    requested({ pageSize, pageToken, ...others }, defaultSize = 1000) {
      filters = others
      const size = pageSize ?? defaultSize
      if (pageToken === undefined || pageToken === '') return { size, after: undefined }
      const bytes = Buffer.from(pageToken, 'base64url')
      const cursor = bytes.subarray(16).toString()
      if (bytes.length <= 16 || !timingSafeEqual(sign(cursor), bytes.subarray(0, 16))) {
        throw new ApiError('INVALID_ARGUMENT', 'Invalid page token.')
      }
      return { size, after: JSON.parse(cursor) as Cursor }
    },
    withNextToken(rows, page, cursor) {
      const items = rows.slice(0, page.size)
      const last = items.at(-1)
      if (rows.length <= page.size || last === undefined) return { items }
      return { items, nextPageToken: tokenAfter(cursor(last)) }
    },
  }
}
