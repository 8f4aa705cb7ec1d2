import { createHmac, hash, timingSafeEqual } from 'node:crypto'
import { ApiError } from '@plenum/protocol'
import type { Cursor } from '../store/engine/db.ts'

export interface Page {
  /** Rows on the page. */
  readonly size: number
  /** The page starts after this row: the values of the columns that the list is ordered by. */
  readonly after: Cursor | undefined
}

interface PageInput {
  pageSize?: number
  pageToken?: string
}

/** Pages of one operation for one tenant. Refuses tokens of another tenant, operation or filter (spec 0.5). */
export interface Pages {
  /** The requested page. All other fields of the input are filters. Default size: 1000. */
  open(input: PageInput & Record<string, unknown>, defaultSize?: number): Page
  /** The token of the page after this row. */
  tokenAfter(row: Cursor): string
  /** Drops the extra row that shows that another page follows, and makes that page's token from the last remaining row. */
  close<T>(
    rows: readonly T[],
    page: Page,
    cursor: (row: T) => Cursor,
  ): { items: readonly T[]; nextPageToken?: string }
}

export function createPages(key: Buffer, scope: string, operation: string): Pages {
  let filters: Record<string, unknown> = {}
  const sign = (cursor: string) => {
    const filter = hash('sha256', JSON.stringify(Object.entries(filters).sort()))
    return createHmac('sha256', key)
      .update(`${scope}\n${operation}\n${filter}\n${cursor}`)
      .digest()
      .subarray(0, 16)
  }

  const tokenAfter = (row: Cursor) => {
    const next = JSON.stringify(row)
    return Buffer.concat([sign(next), Buffer.from(next)]).toString('base64url')
  }

  return {
    tokenAfter,
    open({ pageSize, pageToken, ...others }, defaultSize = 1000) {
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
    close(rows, page, cursor) {
      const items = rows.slice(0, page.size)
      const last = items.at(-1)
      if (rows.length <= page.size || last === undefined) return { items }
      return { items, nextPageToken: tokenAfter(cursor(last)) }
    },
  }
}
