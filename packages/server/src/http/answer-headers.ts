/**
 * The headers of every answer, unless its route sets others: an answer belongs to one caller, so no cache may keep it, and no
 * browser may take it for something else than its content type.
 */
export const answerHeaders = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
} as const
