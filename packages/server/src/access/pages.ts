import { createHmac, hash, timingSafeEqual } from 'node:crypto'
import { ApiError } from '@plenum/protocol'
import type { Cursor } from '../store/engine/db.ts'

export interface Page {
  /** Rows to return. */
  readonly size: number
  /** Return rows behind this one, by the values of the order's columns. */
  readonly after: Cursor | undefined
}

interface PageInput {
  pageSize?: number
  pageToken?: string
}

/** Pages of one operation for one tenant. A token of another tenant, operation or filter is not accepted (spec 0.5). */
export interface Pages {
  /** The page that was asked for; every field but the two of paging counts as a filter. */
  open(input: PageInput & Record<string, unknown>, byDefault?: number): Page
  /** The token of the page behind that row. */
  tokenAfter(row: Cursor): string
  /** Cuts the one row too many that was read, and makes the token of the next page from the last row kept. */
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
    open({ pageSize, pageToken, ...others }, byDefault = 1000) {
      filters = others
      const size = pageSize ?? byDefault
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
