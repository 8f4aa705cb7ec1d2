/**
 * Who may see an annotation and everything about it, besides the condition that the user can read the document (spec 25.6). A
 * user must be one of `users` or a member of one of `organizations`, unless both are absent, and must hold every field in
 * `access`.
 */
export interface Audience {
  users?: readonly string[]
  organizations?: readonly string[]
  /** Fields of the access context, as `key:value`. */
  access?: readonly string[]
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
  const { users, organizations, access = [] } = audience
  const isNamed =
    (users === undefined && organizations === undefined) ||
    users?.includes(viewer.userId) === true ||
    organizations?.some((id) => viewer.isMemberOf(id)) === true
  return isNamed && access.every((field) => viewer.holds(field))
}
