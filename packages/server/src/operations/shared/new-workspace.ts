import { newId } from '../../access/ids.ts'
import type { ApiKeyOptions } from '../../store/api-keys.ts'
import type { Db } from '../../store/engine/db.ts'
import * as workspaces from '../../store/workspaces.ts'
import { createKey } from './new-key.ts'

interface NewWorkspace {
  name: string
  /** The email address is normalized. */
  owner: { email: string; name: string; avatar: string }
  newKeyOptions: Partial<ApiKeyOptions>
  now: number
}

/** Adds a workspace with its first API key, for testing. */
export async function addWorkspace(
  db: Db,
  { name, owner, newKeyOptions, now }: NewWorkspace,
): Promise<workspaces.Workspace> {
  const workspace = {
    workspaceId: newId('ws'),
    name,
    owner: { ...owner, id: newId('own') },
    token: { tokenId: newId('tok'), issuedAt: now },
  }
  await workspaces.add(db, workspace, now)
  await createKey(
    db,
    {
      workspaceId: workspace.workspaceId,
      type: 'testing',
      ownerEmail: owner.email,
      options: newKeyOptions,
      localHost: true,
      authToken: true,
    },
    now,
  )
  return workspace
}
