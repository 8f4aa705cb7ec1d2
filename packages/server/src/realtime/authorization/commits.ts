import type { Database, Db } from '../../store/engine/db.ts'

/** A client that sent something to be stored. */
export interface Sender {
  /** Whether what it sent may be stored at this moment, also after it left. Undefined while a decision is pending. */
  readonly mayStore: boolean | undefined
  /** Resolves when the pending decision is made. */
  whenDecided(): Promise<void>
}

/** Access changed while a transaction was running: it must not be committed. */
export class AccessChanged extends Error {}

interface Commit {
  apiKeys: ReadonlySet<string>
  senders: readonly Sender[]
  /** Resolves when the commit has succeeded or failed. */
  ended: Promise<void>
}

/**
 * Transactions that store what clients sent. Each is committed only if all senders may still write at its end. An operation
 * that revokes access is answered after the commits that were under way at that moment. So nothing is stored after the
 * answer.
 */
export class Commits {
  readonly #database: Database
  readonly #underWay = new Set<Commit>()

  constructor(database: Database) {
    this.#database = database
  }

  /** Throws `AccessChanged` if a sender may not write any more, or if its decision is pending. */
  async write<T>(
    apiKeys: ReadonlySet<string>,
    senders: readonly Sender[],
    work: (db: Db) => Promise<T>,
    lane?: string,
  ): Promise<T> {
    let end = () => {}
    const commit: Commit = { apiKeys, senders, ended: new Promise((resolve) => (end = resolve)) }
    try {
      return await this.#database.write(async (db) => {
        const result = await work(db)
        if (!areAllowed(senders)) throw new AccessChanged()
        // On SQLite the commit follows before anything else can happen.
        if (!this.#database.exclusive) this.#underWay.add(commit)
        return result
      }, lane)
    } finally {
      end()
      this.#underWay.delete(commit)
    }
  }

  /**
   * Resolves when no commit under that API key is under way whose sender has lost access; undefined if there is none.
   * Commits whose senders may still write are not waited for: a commit takes long when the database does not answer.
   */
  underWay(apiKey: string): Promise<unknown> | undefined {
    if (this.#underWay.size === 0) return undefined
    const commits = [...this.#underWay].filter(({ apiKeys }) => apiKeys.has(apiKey))
    if (commits.length === 0) return undefined
    return Promise.all(commits.map((commit) => Promise.race([commit.ended, whenHarmless(commit)])))
  }
}

const areAllowed = (senders: readonly Sender[]) => senders.every(({ mayStore }) => mayStore === true)

/** Resolves when it is known that all senders may still write. */
async function whenHarmless({ senders, ended }: Commit): Promise<void> {
  await Promise.all(senders.map((sender) => sender.whenDecided()))
  if (!areAllowed(senders)) await ended
}

/** Retries the write when access changed meanwhile and the sender may still write. Calls `refused` if it may not. */
export async function retryWhileAllowed<T>(
  sender: Sender,
  write: () => Promise<T>,
  refused: () => T,
): Promise<T> {
  for (;;) {
    if (sender.mayStore === undefined) await sender.whenDecided()
    if (sender.mayStore === false) return refused()
    if (sender.mayStore === undefined) continue
    try {
      return await write()
    } catch (error) {
      if (!(error instanceof AccessChanged)) throw error
    }
  }
}
