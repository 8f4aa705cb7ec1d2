import { ApiError, type VersionUser } from '@plenum/protocol'
import { type ClientMessage, limits, type ServerMessage } from '@plenum/protocol/realtime'
import type { Peers } from '../../peers/peers.ts'
import { createSharedRateLimit } from '../../peers/shared-rate-limit.ts'
import type { Clock } from '../../platform/clock.ts'
import type { RateLimit } from '../../platform/rate-limit.ts'
import type { Log } from '../../platform/log/log.ts'
import { StartQueue } from '../../platform/turns/start-queue.ts'
import type { Database } from '../../store/engine/db.ts'
import { authorOf } from '../../store/editors/versions.ts'
import type { EditorRef } from '../../store/refs.ts'
import { type Commits, retryWhileAllowed } from '../authorization/commits.ts'
import { readOnly } from '../rooms/refusals.ts'
import type { Participant } from '../documents/participant.ts'

export type VersionRequest = Extract<
  ClientMessage,
  { type: 'listVersions' | 'addVersion' | 'restoreVersion' }
>
type Done = Omit<Extract<ServerMessage, { type: 'done' }>, 'type' | 'id'>

/** Runs a version operation as REST does. Rejects with an `ApiError`, or with the error of `write`. */
export type RunVersionOperation = (call: {
  verb: 'get' | 'add' | 'restore'
  apiKey: string
  input: object
  bytes: number
  /** Undefined for a backend's connection. */
  user: VersionUser | undefined
  write: Database['write']
}) => Promise<{ data: never; nextPageToken?: string }>

export interface VersionRequestsDeps {
  runVersionOperation: RunVersionOperation
  commits: Commits
  peers: Peers
  clock: Clock
  log: Log
}

/** Limit of each user. A version is a copy of the whole document, so a short message may write 32 MiB. */
const maxWritesPerMinute = 20

/** Handles clients' requests to list, add and restore versions. */
export class VersionRequests {
  readonly #deps: VersionRequestsDeps
  readonly #writes: Pick<RateLimit, 'take'>
  /** Starts one request in each iteration of the event loop: on SQLite a list may take 10 ms. */
  readonly #startQueue = new StartQueue()
  readonly #running = new Set<Promise<unknown>>()

  constructor(deps: VersionRequestsDeps) {
    this.#deps = deps
    const limit = { name: 'versions', limit: maxWritesPerMinute, windowSeconds: 60 }
    this.#writes = createSharedRateLimit(limit, deps)
  }

  /** Resolves with the result once it is durable, or with the reason for the failure. */
  run(from: Participant, ref: EditorRef, message: VersionRequest, bytes: number): Promise<Done | ApiError> {
    const result = this.#run(from, ref, message, bytes)
      .catch((error: unknown) => {
        if (error instanceof ApiError) return error
        this.#deps.log.error({ err: error, ...ref }, 'a version request failed')
        const message = 'The request failed. A version may have been added or restored: read the list again.'
        return new ApiError('UNAVAILABLE', message)
      })
      .finally(() => this.#running.delete(result))
    this.#running.add(result)
    return result
  }

  async #run(from: Participant, ref: EditorRef, message: VersionRequest, bytes: number): Promise<Done> {
    const { organizationId, documentId, editorId } = ref
    const { apiKey, userId, name, access } = from.identity
    const user = access === 'backend' ? undefined : authorOf(userId, name)
    const write: Database['write'] = (work, lane) =>
      this.#deps.commits.write(new Set([apiKey]), [from], work, { lane })
    const run = async (verb: 'get' | 'add' | 'restore', fields: object) => {
      await this.#startQueue.wait(apiKey)
      const input = { organizationId, documentId, editorId, ...fields }
      return this.#deps.runVersionOperation({ verb, apiKey, input, bytes, user, write })
    }
    if (message.type === 'listVersions') {
      const { pageSize = limits.versionsPerPage, pageToken } = message
      if (pageSize < 1 || pageSize > limits.versionsPerPage) {
        const rule = `pageSize must be an integer between 1 and ${limits.versionsPerPage}.`
        throw new ApiError('INVALID_ARGUMENT', rule)
      }
      const { data: versions, nextPageToken } = await run('get', { pageSize, pageToken })
      return { versions, nextPageToken }
    }
    await this.#requireWriteAccess(from)
    if (message.type === 'addVersion') {
      const { data: version } = await retryWhileAllowed(
        from,
        () => run('add', { name: message.name }),
        refuse,
      )
      return { version }
    }
    await retryWhileAllowed(from, () => run('restore', { versionId: message.versionId }), refuse)
    return {}
  }

  async #requireWriteAccess({
    identity: { apiKey, userId, access },
    hasWriteRole,
  }: Participant): Promise<void> {
    if (!hasWriteRole) refuse()
    if (access === 'backend') return
    const waitSeconds = await this.#writes.take(`${apiKey}/${userId}`)
    if (waitSeconds === 0) return
    const message = `A user can add or restore ${maxWritesPerMinute} versions a minute. Try again in ${waitSeconds} seconds.`
    throw new ApiError('RESOURCE_EXHAUSTED', message)
  }

  /** Resolves when no request is running. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running)
  }
}

function refuse(): never {
  throw new ApiError('PERMISSION_DENIED', readOnly.message)
}
