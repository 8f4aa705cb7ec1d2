import type { Db } from './engine/db.ts'
import { parse } from './engine/json.ts'

export interface SigningKey {
  keyId: string
  publicJwk: Record<string, unknown>
  /** The sealed private key. */
  privateJwk: Uint8Array
  createdAt: number
}

/** All signing keys, the newest first. */
export async function all(db: Db): Promise<SigningKey[]> {
  const rows = await db.selectFrom('signing_keys').selectAll().orderBy('created_at', 'desc').execute()
  return rows.map((row) => ({
    keyId: row.key_id,
    publicJwk: parse<Record<string, unknown>>(row.public_jwk),
    privateJwk: row.private_jwk,
    createdAt: row.created_at,
  }))
}

export async function newest(db: Db): Promise<SigningKey | undefined> {
  return (await all(db))[0]
}

/** The id of the first signing key. It stays the same, and only copies of this database have it too. */
export async function oldestId(db: Db): Promise<string> {
  const { key_id } = await db
    .selectFrom('signing_keys')
    .select('key_id')
    .orderBy('created_at')
    .orderBy('key_id')
    .limit(1)
    .executeTakeFirstOrThrow()
  return key_id
}

export async function add(db: Db, key: SigningKey): Promise<void> {
  await db
    .insertInto('signing_keys')
    .values({
      key_id: key.keyId,
      public_jwk: JSON.stringify(key.publicJwk),
      private_jwk: key.privateJwk,
      created_at: key.createdAt,
    })
    .execute()
}

/** Removes all keys, so that every token that they signed is invalid. */
export async function removeAll(db: Db): Promise<void> {
  await db.deleteFrom('signing_keys').execute()
}
