import { setTimeout as pause } from 'node:timers/promises'
import { ApiError } from '@plenum/client'
import type { Cluster } from './cluster.ts'
import { commitTimesOf } from './commit-times.ts'
import { createDocuments } from './documents.ts'
import { organizationId, RawEditor } from './raw-editor.ts'
import type { ServerProcess } from '../packages/server/test/support/processes/server-process.ts'

/** Users who write at every server without pause, each in a document of its own, and lose access. */
export class RevokedUsers {
  readonly #users: readonly RevokedUser[]

  constructor(cluster: Cluster, name: string, count: number) {
    this.#users = Array.from({ length: count }, (_, index) => new RevokedUser(cluster, `${name}-${index}`))
  }

  async open(): Promise<void> {
    for (const user of this.#users) await user.open()
  }

  /** Takes the access away. A server that is stuck cannot know of it before it goes on. */
  async revoke(limitMs: number, stuck?: ServerProcess): Promise<void> {
    await Promise.all(this.#users.map((user) => user.revoke(limitMs, stuck)))
  }

  /** From the answer to the call that took the access away until no server that can answer accepted the user: the longest time. */
  get tookMs(): number | undefined {
    const times = this.#users.map(({ tookMs }) => tookMs)
    return times.includes(undefined) ? undefined : Math.max(...(times as number[]))
  }

  /** What was not as promised, once no server is stuck any more. */
  async problems(limitMs: number): Promise<string[]> {
    const problems = await Promise.all(this.#users.map((user) => user.problems(limitMs)))
    return [...new Set(problems.flat())]
  }

  close(): void {
    for (const user of this.#users) user.close()
  }
}

class RevokedUser {
  readonly #cluster: Cluster
  readonly #documentId: string
  readonly #userId: string
  #sessions: Session[] = []
  #answeredAt = Infinity
  /** The same in Unix milliseconds. */
  #revokedAt = Infinity
  tookMs: number | undefined

  constructor(cluster: Cluster, documentId: string) {
    this.#cluster = cluster
    this.#documentId = documentId
    this.#userId = `user of ${documentId}`
  }

  get #resource() {
    return { type: 'document' as const, id: this.#documentId, organizationId }
  }

  /** Creates the document, and opens a session at each server. */
  async open(): Promise<void> {
    const documentId = this.#documentId
    await createDocuments(this.#cluster, [documentId])
    const client = this.#cluster.client()
    const documentIds = [documentId]
    await client.documents.updateAccess({ organizationId, documentIds, accessType: 'restricted' })
    const { data } = await client.auth.generateToken({
      userId: this.#userId,
      userProperties: { name: this.#userId, email: 'revoked@example.com' },
      permissions: { resources: [{ ...this.#resource, accessRole: 'editor' }] },
    })
    this.#sessions = this.#cluster.servers.map((server) => new Session(server, data.token, documentId))
    await Promise.all(this.#sessions.map((session) => session.writing))
  }

  async revoke(limitMs: number, stuck?: ServerProcess): Promise<void> {
    await this.#remove()
    this.#answeredAt = performance.now()
    this.#revokedAt = Date.now()
    const sessions = this.#sessions.filter(({ server }) => server !== stuck)
    const ends = Promise.all(sessions.map((session) => session.endedAt))
    const times = await Promise.race([ends, pause(limitMs, undefined, { ref: false })])
    if (times) this.tookMs = Math.max(0, ...times.map((at) => at - this.#answeredAt))
  }

  /** A server that is stuck may hold locks for some seconds. So the call is repeated until it is answered. */
  async #remove(): Promise<void> {
    const userId = this.#userId
    const permissions = { resources: [this.#resource] }
    const call = { idempotencyKey: this.#documentId }
    for (const deadline = Date.now() + 20_000; ;) {
      try {
        return void (await this.#cluster.client().permissions.remove({ userId, permissions }, call))
      } catch (error) {
        if (!(error instanceof ApiError) || error.httpStatus < 500 || Date.now() > deadline) throw error
      }
    }
  }

  /** What was not as promised, once no server is stuck any more. */
  async problems(limitMs: number): Promise<string[]> {
    const problems: string[] = []
    const ends = Promise.all(this.#sessions.map((session) => session.endedAt))
    const times = await Promise.race([ends, pause(limitMs, undefined, { ref: false })])
    if (this.tookMs === undefined || !times) problems.push('a user without access was not refused')
    if ((await this.#lastWriteAt()) > this.#revokedAt + knownWithinMs)
      problems.push('a user without access could write')
    return problems
  }

  /**
   * When the last write of the user was committed. Not when it was acknowledged: a server that was stopped after the commit does
   * that when it goes on.
   */
  async #lastWriteAt(): Promise<number> {
    const { databaseUrl } = this.#cluster
    const times =
      databaseUrl === undefined
        ? this.#sessions.map(({ savedWasSentAt }) => savedWasSentAt + Date.now() - performance.now())
        : await commitTimesOf(databaseUrl, this.#documentId)
    return Math.max(0, ...times)
  }

  close(): void {
    for (const session of this.#sessions) session.close()
  }
}

/** Every server that can answer knows of a change by then, and one that was stuck before it stores anything. */
const knownWithinMs = 1_500

/** A session of the user at one server. */
class Session {
  readonly server: ServerProcess
  /** Resolves when the first write is acknowledged. */
  readonly writing: Promise<void>
  readonly endedAt: Promise<number>
  /** When the last acknowledged write was sent. */
  savedWasSentAt = 0
  readonly #editor: RawEditor

  constructor(server: ServerProcess, token: string, documentId: string) {
    let onWriting = () => {}
    let count = 0
    let sentAt = 0
    this.server = server
    this.writing = new Promise((resolve) => (onWriting = resolve))
    const write = () => {
      if (this.#editor.isEnded) return
      sentAt = performance.now()
      this.#editor.write(String(++count))
    }
    this.#editor = new RawEditor({ url: server.url, token, documentId }, () => {
      this.savedWasSentAt = sentAt
      onWriting()
      write()
    })
    void this.#editor.opened.then(write)
    this.endedAt = this.#editor.ended.then(() => performance.now())
  }

  close(): void {
    this.#editor.terminate()
  }
}
