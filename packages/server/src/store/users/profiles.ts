import { hash } from 'node:crypto'
import type { User } from '@plenum/protocol'
import { mergeKeys } from '../engine/json.ts'

/** What callers said of a user, by field. */
export type Profile = Record<string, unknown>

/**
 * Not for callers to say, for they belong to a level, to a token or to the server (spec 22.1). `isAdmin` counts in a
 * token only; in a profile it could be taken for a right.
 */
const reserved = new Set([
  'userId',
  'accessRole',
  'organizationId',
  'isAdmin',
  'type',
  'contacts',
  'name_lowercase',
  'email_lowercase',
  'clientUserName',
])

/** The profile with the sent fields laid over it; `null` removes one. */
export function merged(profile: Profile, sent: Profile): Profile {
  const fields = Object.entries(sent).filter(([field]) => !reserved.has(field))
  return mergeKeys(profile, Object.fromEntries(fields))
}

/** Dark enough for white text on them. */
const colors =
  '#c92a2a #a61e4d #862e9c #5f3dc4 #364fc7 #1864ab #0b7285 #087f5b #a8480c #4c7a0b #7a4f2b #495057'.split(' ')

/**
 * The profile becomes the user as it is read: what nobody set is derived from the id, so it never changes by itself. To
 * copy a profile with many fields would take longer than to parse it.
 */
export function toUser(userId: string, profile: Profile): User {
  const name = textOf(profile.name) ?? `User ${digest(userId).slice(0, 4).toUpperCase()}`
  return Object.assign(profile, {
    userId,
    name,
    initial: textOf(profile.initial) ?? initialOf(name),
    color: textOf(profile.color) ?? colorOf(userId),
  })
}

/** What presence shows of a profile. */
export interface Look {
  photoUrl?: string
  /** CSS; the one in the profile, or one derived from the id. */
  color: string
}

export function lookOf(userId: string, { photoUrl, color }: Profile): Look {
  const photo = textOf(photoUrl)
  return { ...(photo !== undefined && { photoUrl: photo }), color: textOf(color) ?? colorOf(userId) }
}

const textOf = (value: unknown) => (typeof value === 'string' && value.trim() !== '' ? value : undefined)
const digest = (userId: string) => hash('sha256', userId, 'hex')
const colorOf = (userId: string) => colors[parseInt(digest(userId).slice(4, 8), 16) % colors.length] as string
const initialOf = (name: string) => (/\p{L}/u.exec(name) ?? /\S/u.exec(name))?.[0].toUpperCase() ?? ''
