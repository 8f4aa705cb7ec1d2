import type { Signals } from '../../peers/signals.ts'
import type { Database, Db, TransactionLimits } from '../../store/engine/db.ts'

/** A client that sent data to be stored. */
export interface Sender {
  /** Whether the data may be stored at this moment, even after the client left. Undefined while a decision is pending. */
  readonly mayStore: boolean | undefined
  /** Resolves when the pending decision is made. */
  whenDecided(): Promise<void>
}

/**
 * For transactions that only read and write rows. A server that is frozen between its last check of the senders and the commit
 * for longer than this does not commit.
 */
export const maxPause: TransactionLimits = { pauseMs: 2_000 }

/** Thrown when access changes while a transaction runs, because the transaction must not be committed. */
export class AccessChanged extends Error {}

interface Commit {
  apiKeys: ReadonlySet<string>
  senders: readonly Sender[]
  /** Resolves when the commit has succeeded or failed. */
  ended: Promise<void>
}

/**
 * Transactions that store what clients sent. Each is committed only if all its senders may still write at its end. An
 * operation that revokes access is answered after the commits under way whose senders lost access have ended. So nothing
 * that these clients sent to this server is stored after the answer.
 */
export class Commits {
  readonly #database: Database
  readonly #signals: Pick<Signals, 'whenCurrent'>
  readonly #underWay = new Set<Commit>()

  constructor(database: Database, signals: Pick<Signals, 'whenCurrent'>) {
    this.#database = database
    this.#signals = signals
  }

  /** Runs `work` in a transaction. Throws `AccessChanged` if a sender may not write at its end, or if a decision is pending. */
  async write<T>(
    apiKeys: ReadonlySet<string>,
    senders: readonly Sender[],
    work: (db: Db) => Promise<T>,
    { lane, limits }: { lane?: string | undefined; limits?: TransactionLimits } = {},
  ): Promise<T> {
    let markEnded = () => {}
    const commit: Commit = { apiKeys, senders, ended: new Promise((resolve) => (markEnded = resolve)) }
    try {
      return await this.#database.write(
        async (db) => {
          const result = await work(db)
          // A server that was stopped for a while may not know yet of access that was taken away over another server.
          await this.#signals.whenCurrent()
          if (!areAllowed(senders)) throw new AccessChanged()
          // On SQLite no other code runs before the commit, so nobody has to wait for it.
          if (!this.#database.exclusive) this.#underWay.add(commit)
          return result
        },
        lane,
        limits,
      )
    } finally {
      markEnded()
      this.#underWay.delete(commit)
    }
  }

  /**
   * Waits for the commits under way, under this API key, whose senders have lost access. Commits whose senders may still
   * write are not waited for: a commit takes long when the database does not answer. Returns undefined if no commit under
   * this API key is under way.
   */
  whenRevokedCommitsEnded(apiKey: string): Promise<unknown> | undefined {
    if (this.#underWay.size === 0) return undefined
    const commits = [...this.#underWay].filter(({ apiKeys }) => apiKeys.has(apiKey))
    if (commits.length === 0) return undefined
    return Promise.all(commits.map((commit) => Promise.race([commit.ended, whenAllowedOrEnded(commit)])))
  }
}

const areAllowed = (senders: readonly Sender[]) => senders.every(({ mayStore }) => mayStore === true)

/** Resolves when all senders are known to be allowed to write, or else when the commit has ended. */
async function whenAllowedOrEnded({ senders, ended }: Commit): Promise<void> {
  await Promise.all(senders.map((sender) => sender.whenDecided()))
  if (!areAllowed(senders)) await ended
}

/** Runs the write, and repeats it while access changes during it. Calls `refused` if the sender may not write any more. */
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
