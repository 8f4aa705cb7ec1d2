/** The server refuses longer addresses and titles. */
const maxUrlCharacters = 2_000
const maxTitleCharacters = 1_000

/** The page that the user looks at, as emails link to it. Undefined outside of browsers. */
export function currentPage(): { url: string; title?: string } | undefined {
  const { location, document } = globalThis as {
    location?: { href?: string }
    document?: { title?: string }
  }
  const url = location?.href
  if (url === undefined || !/^https?:/.test(url) || url.length > maxUrlCharacters) return undefined
  const title = document?.title?.slice(0, maxTitleCharacters)
  return title ? { url, title } : { url }
}
