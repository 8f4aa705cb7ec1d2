import { mentionCandidates } from '../../platform/mentions.ts'

/**
 * Fields whose text is the id of a user, or that list such ids: `from` and `to` of a change too. Other texts may equal an id by
 * chance.
 */
export const namesUsers = /user|mentioned|by$|^(from|to|actor|author|assignee|owner)(id)?$/i
/** Objects whose keys are ids of users. */
const isByUser = /^users(Organization|Document)NotificationsConfig$/

/** The ids of all users whom an event, a webhook or a mail names: as objects, in fields that have ids, and as `{{userId}}` in texts. */
export const usersNamedIn = (data: unknown): Set<string> =>
  collect(data, { isId: (field) => namesUsers.test(field), isById: (field) => isByUser.test(field) })

/**
 * As `usersNamedIn`, for the answer to a request. Answers have results by id, so each `id` and each key may be that of a user,
 * but no other text, such as a role.
 */
export const usersPerhapsNamedIn = (answer: unknown): Set<string> =>
  collect(answer, { isId: (field) => field === 'id' || namesUsers.test(field), isById: () => true })

interface Rules {
  /** Whether a text in the field is an id. */
  isId: (field: string) => boolean
  /** Whether the keys of an object in the field are ids. */
  isById: (field: string) => boolean
}

function collect(data: unknown, { isId, isById }: Rules): Set<string> {
  const found = new Set<string>()
  const visit = (value: unknown, field: string): void => {
    if (typeof value === 'string') {
      if (isId(field)) found.add(value)
      for (const id of mentionCandidates(value)) found.add(id)
    } else if (Array.isArray(value)) {
      for (const item of value) visit(item, field)
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, inside] of Object.entries(value)) {
        if (isById(field)) found.add(name)
        visit(inside, name)
      }
    }
  }
  visit(data, '')
  return found
}
