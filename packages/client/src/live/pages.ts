interface Page {
  pageSize: number
  pageToken?: string
}

interface Answer<T> {
  data: readonly T[]
  nextPageToken?: string | undefined
}

/** A page that has to pass over very many items ends early, so further pages are read, but not without end. */
const maxPages = 20

/** Reads pages of a list until there are enough items, or the list is over. */
export async function readPages<T>(
  wanted: number,
  get: (page: Page) => Promise<Answer<T>>,
  pageToken?: string,
): Promise<{ data: T[]; nextPageToken: string | undefined }> {
  const data: T[] = []
  let next = pageToken
  for (let pages = 0; pages < maxPages; pages++) {
    const answer = await get({
      pageSize: wanted - data.length,
      ...(next !== undefined && { pageToken: next }),
    })
    data.push(...answer.data)
    next = answer.nextPageToken
    if (next === undefined || data.length >= wanted) break
  }
  return { data, nextPageToken: next }
}
