import { parse } from '../engine/json.ts'

/**
 * Who may see an annotation and everything about it, besides the condition that the user can read the document (spec 25.6). A
 * user must be one of `users` or a member of one of `organizations`, unless both are absent, and must hold every field in
 * `access`. The author needs neither.
 */
export interface Audience {
  users?: readonly string[]
  organizations?: readonly string[]
  /** Fields of the access context, as `key:value`. */
  access?: readonly string[]
  /** The author, who sees the annotation whatever the access context is. Set if there is one. */
  authorUserId?: string
}

/** The audience of an annotation. */
export interface StoredAudience extends Audience {
  /** The audience before the last change. Absent: it was never changed, or the former one was too large to be kept. */
  former?: FormerAudience
}

/** An audience that an annotation had from the change `since` of the document until the change `until`. */
interface FormerAudience {
  audience: Audience | null
  since: number
  until: number
}

export function withoutFormer(audience: StoredAudience | null): Audience | null {
  if (audience === null) return null
  const { former: _, ...current } = audience
  return current
}

export interface Viewer {
  readonly userId: string
  isMemberOf(organizationId: string): boolean
  holds(accessField: string): boolean
}

/** Loads what is needed to decide about these audiences, then returns the decision about each. */
export type Visible = (
  audiences: readonly (Audience | null)[],
) => Promise<(audience: Audience | null) => boolean>

/** Null: everyone who can read the document. */
export function maySee(audience: Audience | null, viewer: Viewer): boolean {
  if (audience === null) return true
  const { users, organizations, access = [], authorUserId } = audience
  if (authorUserId !== undefined && authorUserId === viewer.userId) return true
  const isNamed =
    (users === undefined && organizations === undefined) ||
    users?.includes(viewer.userId) === true ||
    organizations?.some((id) => viewer.isMemberOf(id)) === true
  return isNamed && access.every((field) => viewer.holds(field))
}

/** Reads the stored audience of an annotation. One that was stored by an earlier release has no author. */
export function parseAudience(json: string | null, authorUserId: string): StoredAudience | null {
  if (json === null) return null
  const audience = parse<StoredAudience>(json)
  return audience.access && audience.authorUserId === undefined ? { ...audience, authorUserId } : audience
}
