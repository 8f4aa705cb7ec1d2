import { hash } from 'node:crypto'
import type { User } from '@plenum/protocol'
import { mergeKeys } from '../engine/json.ts'

/** The fields that callers stored for a user. */
export type Profile = Record<string, unknown>

/**
 * Fields that callers cannot set, because they belong to a level, to a token or to the server (spec 22.1). `isAdmin` applies
 * only in a token; in a profile it could be mistaken for a permission.
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

/** Merges the sent fields into the profile; `null` removes a field. */
export function mergeProfile(profile: Profile, sent: Profile): Profile {
  const fields = Object.entries(sent).filter(([field]) => !reserved.has(field))
  return mergeKeys(profile, Object.fromEntries(fields))
}

/** Dark enough for white text. */
const colors =
  '#c92a2a #a61e4d #862e9c #5f3dc4 #364fc7 #1864ab #0b7285 #087f5b #a8480c #4c7a0b #7a4f2b #495057'.split(' ')

/**
 * Turns the profile into the user that is returned. Missing fields are derived from the id or the name, so they never
 * change by themselves. Changes the profile in place: copying one with many fields takes longer than parsing it.
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

/** The fields of a profile that presence shows. */
export interface Look {
  photoUrl?: string
  /** CSS color from the profile. Default: derived from the id. */
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
