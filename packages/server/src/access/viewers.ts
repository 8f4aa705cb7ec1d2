import * as memberships from '../store/access/memberships.ts'
import { type Audience, maySee, type Viewer, type Visible } from '../store/comments/audience.ts'
import type { Db } from '../store/engine/db.ts'
import { isLive } from './permissions.ts'
import type { Overlay } from './subjects.ts'

interface ViewerOf {
  apiKey: string
  organizationId: string
  userId: string
  now: number
  /** Default: only stored grants apply. */
  overlay?: Overlay | undefined
}

/**
 * Decides what a user may see below the document (spec 25.6). Memberships and access fields are read when an audience first
 * names them.
 */
export function createVisible(db: Db, { apiKey, organizationId, userId, now, overlay }: ViewerOf): Visible {
  const nowSeconds = now / 1000
  const isMember = new Map<string, boolean>()
  let accessFields: Set<string> | undefined
  const viewer: Viewer = {
    userId,
    isMemberOf: (id) => isMember.get(id) === true,
    holds: (field) => accessFields?.has(field) === true,
  }

  const learnMemberships = async (ids: readonly string[]) => {
    const found = new Map(
      (await memberships.findMemberships(db, apiKey, userId, ids)).map((grant) => [grant.id, grant]),
    )
    for (const id of ids) {
      const stored = found.get(id)
      isMember.set(id, isLive(overlay ? overlay('organization', id, stored) : stored, nowSeconds))
    }
  }
  const learnAccessFields = async (named: ReadonlySet<string>) => {
    const stored = await memberships.findAccessFields(db, apiKey, userId, organizationId)
    const byField = new Map(stored.map((grant) => [grant.id, grant]))
    const fields = overlay ? new Set([...byField.keys(), ...named]) : byField.keys()
    accessFields ??= new Set()
    for (const field of fields) {
      const grant = byField.get(field)
      if (isLive(overlay ? overlay('context', field, grant) : grant, nowSeconds)) accessFields.add(field)
    }
  }

  return async (audiences) => {
    const organizations = new Set(audiences.flatMap((audience) => audience?.organizations ?? []))
    const unknown = [...organizations].filter((id) => !isMember.has(id))
    if (unknown.length > 0) await learnMemberships(unknown)
    const fields = new Set(audiences.flatMap((audience) => audience?.access ?? []))
    if (fields.size > 0) await learnAccessFields(fields)
    return (audience) => maySee(audience, viewer)
  }
}

/** Which of the users may see what the audience may see, by their stored grants. */
export async function findViewers(
  db: Db,
  { apiKey, organizationId, now }: Pick<ViewerOf, 'apiKey' | 'organizationId' | 'now'>,
  audience: Audience | null,
  userIds: readonly string[],
): Promise<(userId: string) => boolean> {
  if (audience === null) return () => true
  const { organizations = [], access = [] } = audience
  const nowSeconds = Math.floor(now / 1000)
  const held = new Set<string>()
  const nameOf = (userId: string, type: string, id: string) => JSON.stringify([userId, type, id])
  const learn = async (organization: string, type: 'organization' | 'context', ids: readonly string[]) => {
    const holders = await memberships.findHolders(
      db,
      apiKey,
      organization,
      { type, ids },
      userIds,
      nowSeconds,
    )
    for (const { userId, id } of holders) held.add(nameOf(userId, type, id))
  }
  for (const id of organizations) await learn(id, 'organization', [id])
  if (access.length > 0) await learn(organizationId, 'context', access)
  return (userId) =>
    maySee(audience, {
      userId,
      isMemberOf: (id) => held.has(nameOf(userId, 'organization', id)),
      holds: (field) => held.has(nameOf(userId, 'context', field)),
    })
}
