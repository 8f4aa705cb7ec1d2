import { createHmac, hash, timingSafeEqual } from 'node:crypto'
import { ApiError } from '@plenum/protocol'
import type { Secrets } from '../../access/credentials/secrets.ts'
import type { Cursor } from '../../store/engine/db.ts'

/** A page that a caller asks for. */
export interface Page {
  /** The maximum number of rows on the page. */
  readonly size: number
  /** The page starts after this row: the values of the columns that the list is ordered by. */
  readonly after: Cursor | undefined
}

const signatureBytes = 16

interface PageInput {
  pageSize?: number
  pageToken?: string
}

/** The pages of one list, which one caller reads with one operation. Page tokens are encrypted (spec 0.5). */
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

export function createPages(
  { pageTokens, pageTokenKey }: Pick<Secrets, 'pageTokens' | 'pageTokenKey'>,
  callerScope: string,
  operationName: string,
): Pages {
  let filters: Record<string, unknown> = {}
  const context = () => {
    const filter = hash('sha256', JSON.stringify(Object.entries(filters).sort()))
    return `${callerScope}\n${operationName}\n${filter}`
  }

  /** A token from before tokens were encrypted: a signature and the row. */
  const openSigned = (token: string): Buffer | undefined => {
    const bytes = Buffer.from(token, 'base64url')
    const row = bytes.subarray(signatureBytes)
    const signed = createHmac('sha256', pageTokenKey).update(`${context()}\n${row.toString()}`).digest()
    const isValid =
      bytes.length > signatureBytes &&
      timingSafeEqual(signed.subarray(0, signatureBytes), bytes.subarray(0, signatureBytes))
    return isValid ? row : undefined
  }

  const tokenAfter = (row: Cursor) => pageTokens.seal(Buffer.from(JSON.stringify(row)), context())

  return {
    tokenAfter,
    requested({ pageSize, pageToken, ...others }, defaultSize = 1000) {
      filters = others
      const size = pageSize ?? defaultSize
      if (pageToken === undefined || pageToken === '') return { size, after: undefined }
      const row = pageTokens.open(pageToken, context()) ?? openSigned(pageToken)
      if (!row) throw new ApiError('INVALID_ARGUMENT', 'Invalid page token.')
      return { size, after: JSON.parse(row.toString()) as Cursor }
    },
    withNextToken(rows, page, cursor) {
      const items = rows.slice(0, page.size)
      const last = items.at(-1)
      if (rows.length <= page.size || last === undefined) return { items }
      return { items, nextPageToken: tokenAfter(cursor(last)) }
    },
  }
}
