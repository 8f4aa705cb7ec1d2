import { mentionCandidates } from '../../platform/mentions.ts'

/**
 * Fields whose text is the id of a user, or that list such ids: `from` and `to` of a change too. Other texts may equal an id by
 * chance.
 */
export const namesUsers = /user|mentioned|by$|^(from|to|actor|author|assignee|owner)(id)?$/i
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
    if (namesUsers.test(field)) found.add(value)
    for (const id of mentionCandidates(value)) found.add(id)
  } else if (Array.isArray(value)) {
    for (const item of value) collect(item, field, found)
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, inside] of Object.entries(value)) {
      if (isByUser.test(field)) found.add(name)
      collect(inside, name, found)
    }
  }
}
