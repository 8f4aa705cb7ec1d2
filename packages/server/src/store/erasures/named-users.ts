/** Fields whose texts are ids of users. */
const hasUserIds = /user|mentioned|^(from|to|actorId|authorId|lastUpdatedBy)$/i
/** Objects whose keys are ids of users. */
const isByUser = /^users(Organization|Document)NotificationsConfig$/

/** The ids of all users whom an event, a webhook or a mail names: as objects, in fields that have ids, and as `{{userId}}` in texts. */
export function usersNamedIn(data: unknown): Set<string> {
  const found = new Set<string>()
  collect(data, '', found)
  return found
}

function collect(value: unknown, field: string, found: Set<string>): void {
  if (typeof value === 'string') {
    if (hasUserIds.test(field)) found.add(value)
    for (const [, id = ''] of value.matchAll(/\{\{([^{}\n]{1,256})\}\}/g)) found.add(id)
  } else if (Array.isArray(value)) {
    for (const item of value) collect(item, field, found)
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, inside] of Object.entries(value)) {
      if (isByUser.test(field)) found.add(name)
      collect(inside, name, found)
    }
  }
}
