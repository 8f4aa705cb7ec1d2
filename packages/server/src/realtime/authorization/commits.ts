import type { Database, Db } from '../../store/engine/db.ts'

/** Who sent something that is to be stored. */
export interface Sender {
  /** Whether what it sent may be stored at this moment, also after it left; undefined until `decided`. */
  readonly mayStore: boolean | undefined
  decided(): Promise<void>
}

/** Access changed while a transaction was under way: it must not be committed. */
export class AccessChanged extends Error {}

interface Commit {
  apiKeys: ReadonlySet<string>
  senders: readonly Sender[]
  over: Promise<void>
}

/**
 * Transactions that store what clients sent. Each is committed only if all senders may still write at its end. An operation
 * that takes access away is answered after the commits that were under way then, so that nothing is stored after the answer.
 */
export class Commits {
  readonly #database: Database
  readonly #underWay = new Set<Commit>()

  constructor(database: Database) {
    this.#database = database
  }

  /** Throws `AccessChanged` if a sender may not write any more, or if that is not known. */
  async write<T>(
    apiKeys: ReadonlySet<string>,
    senders: readonly Sender[],
    work: (db: Db) => Promise<T>,
    lane?: string,
  ): Promise<T> {
    let end = () => {}
    const commit: Commit = { apiKeys, senders, over: new Promise((resolve) => (end = resolve)) }
    try {
      return await this.#database.write(async (db) => {
        const result = await work(db)
        if (!areAllowed(senders)) throw new AccessChanged()
        // On SQLite the commit follows at once, before anything else happens.
        if (!this.#database.exclusive) this.#underWay.add(commit)
        return result
      }, lane)
    } finally {
      end()
      this.#underWay.delete(commit)
    }
  }

  /**
   * Resolves when no commit under that key is under way of which a sender has lost access; undefined if there is none. A
   * commit may take long, when the database falls silent: nobody waits for one whose senders may still write.
   */
  underWay(apiKey: string): Promise<unknown> | undefined {
    if (this.#underWay.size === 0) return undefined
    const commits = [...this.#underWay].filter(({ apiKeys }) => apiKeys.has(apiKey))
    if (commits.length === 0) return undefined
    return Promise.all(commits.map((commit) => Promise.race([commit.over, isHarmless(commit)])))
  }
}

const areAllowed = (senders: readonly Sender[]) => senders.every(({ mayStore }) => mayStore === true)

/** Resolves when it is known that all senders may still write. */
async function isHarmless({ senders, over }: Commit): Promise<void> {
  await Promise.all(senders.map((sender) => sender.decided()))
  if (!areAllowed(senders)) await over
}

/** Does it again when access changed in between and the sender may still write; `refused` if the sender may not. */
export async function whileAllowed<T>(sender: Sender, write: () => Promise<T>, refused: () => T): Promise<T> {
  for (;;) {
    if (sender.mayStore === undefined) await sender.decided()
    if (sender.mayStore === false) return refused()
    if (sender.mayStore === undefined) continue
    try {
      return await write()
    } catch (error) {
      if (!(error instanceof AccessChanged)) throw error
    }
  }
}
