/** Characters of an id at most (spec 0.6). */
const maxIdLength = 256

/**
 * An id may contain braces, so that a mention may end at several places: at one of the first four `}}` on its line, but not
 * behind the `{{` of the next mention. Without limits, the time would grow with the square of the braces.
 */
const maxEnds = 4

interface Candidate {
  id: string
  /** The index behind the mention. */
  end: number
}

/** What may be mentioned by the `{{` at this index, shortest first. */
function candidatesAt(text: string, start: number): Candidate[] {
  const [line = ''] = text.slice(start + 2, start + 2 + maxIdLength + 2).split('\n', 1)
  const found: Candidate[] = []
  const first = line.indexOf('}}', 1)
  const next = line.indexOf('{{', first)
  const last = next < 0 ? line.length : next
  for (let end = first; end >= 0 && end < last && found.length < maxEnds; end = line.indexOf('}}', end + 1)) {
    found.push({ id: line.slice(0, end), end: start + 2 + end + 2 })
  }
  return found
}

/** The ids of all users whom the text may mention as `{{userId}}`. Which of them it mentions depends on which users exist. */
export function mentionCandidates(text: string): Set<string> {
  const ids = new Set<string>()
  for (let start = text.indexOf('{{'); start >= 0; start = text.indexOf('{{', start + 1)) {
    for (const { id } of candidatesAt(text, start)) ids.add(id)
  }
  return ids
}

/**
 * Replaces the mentions of users in the text, from the beginning to the end. `replacement` returns undefined for what is no
 * user, or stays. Of several users that one mention may be of, the shortest id counts.
 */
export function replaceMentions(text: string, replacement: (userId: string) => string | undefined): string {
  let replaced = ''
  let copied = 0
  for (let start = text.indexOf('{{'); start >= 0;) {
    let next = start + 1
    for (const { id, end } of candidatesAt(text, start)) {
      const shown = replacement(id)
      if (shown === undefined) continue
      replaced += text.slice(copied, start) + shown
      copied = end
      next = end
      break
    }
    start = text.indexOf('{{', next)
  }
  return copied === 0 ? text : replaced + text.slice(copied)
}

/** The ids of the users whom the text mentions, of those who exist. */
export function mentionsIn(text: string, exists: (userId: string) => boolean): Set<string> {
  const ids = new Set<string>()
  replaceMentions(text, (id) => {
    if (!exists(id)) return undefined
    ids.add(id)
    return ''
  })
  return ids
}
