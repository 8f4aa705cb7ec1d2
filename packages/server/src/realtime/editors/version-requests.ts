import { ApiError, type VersionUser } from '@plenum/protocol'
import { type ClientMessage, limits, type ServerMessage } from '@plenum/protocol/realtime'
import { memoryCounter } from '../../platform/counters/memory.ts'
import type { Log } from '../../platform/log/log.ts'
import { LoopTurns } from '../../platform/turns/loop-turns.ts'
import type { Database } from '../../store/engine/db.ts'
import { authorOf } from '../../store/editors/versions.ts'
import type { Place } from '../../store/editors/editors.ts'
import { type Commits, whileAllowed } from '../authorization/commits.ts'
import { readOnly } from '../rooms/member.ts'
import type { Participant } from '../documents/participant.ts'

export type VersionMessage = Extract<
  ClientMessage,
  { type: 'listVersions' | 'addVersion' | 'restoreVersion' }
>
type Done = Omit<Extract<ServerMessage, { type: 'done' }>, 'type' | 'id'>

/** Runs an operation on versions as REST does. Fails with an `ApiError`, or with what `write` fails with. */
export type RunVersionOperation = (call: {
  verb: 'get' | 'add' | 'restore'
  apiKey: string
  input: object
  bytes: number
  /** Undefined: a backend's connection. */
  user: VersionUser | undefined
  write: Database['write']
}) => Promise<{ data: never; nextPageToken?: string }>

export interface VersionRequestsDeps {
  runVersionOperation: RunVersionOperation
  commits: Commits
  log: Log
}

/** Of one user. A version is a copy of the whole document, so that a short message may write 32 MiB. */
const maxWritesPerMinute = 20

/** What clients ask about the versions of an editor. */
export class VersionRequests {
  readonly #deps: VersionRequestsDeps
  readonly #writes = memoryCounter(maxWritesPerMinute, 60)
  /** One request begins in each iteration of the event loop: on SQLite a list may take 10 ms. */
  readonly #turns = new LoopTurns()
  readonly #underWay = new Set<Promise<unknown>>()

  constructor(deps: VersionRequestsDeps) {
    this.#deps = deps
  }

  /** Resolves with what was done, once it is durable, or with the reason why it was not. */
  run(from: Participant, place: Place, message: VersionMessage, bytes: number): Promise<Done | ApiError> {
    const running = this.#run(from, place, message, bytes)
      .catch((error: unknown) => {
        if (error instanceof ApiError) return error
        this.#deps.log.error({ err: error, ...place }, 'a request about versions failed')
        const message = 'The request failed. A version may have been added or restored: read the list again.'
        return new ApiError('UNAVAILABLE', message)
      })
      .finally(() => this.#underWay.delete(running))
    this.#underWay.add(running)
    return running
  }

  async #run(from: Participant, place: Place, message: VersionMessage, bytes: number): Promise<Done> {
    const { organizationId, documentId, editorId } = place
    const { apiKey, userId, name, access } = from.identity
    const user = access === 'server' ? undefined : authorOf(userId, name)
    const write: Database['write'] = (work, lane) =>
      this.#deps.commits.write(new Set([apiKey]), [from], work, lane)
    const run = async (verb: 'get' | 'add' | 'restore', fields: object) => {
      await this.#turns.wait(apiKey)
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
    await this.#admitWrite(from)
    if (message.type === 'addVersion') {
      const { data: version } = await whileAllowed(from, () => run('add', { name: message.name }), refuse)
      return { version }
    }
    await whileAllowed(from, () => run('restore', { versionId: message.versionId }), refuse)
    return {}
  }

  async #admitWrite({ identity: { apiKey, userId, access }, canWrite }: Participant): Promise<void> {
    if (!canWrite) refuse()
    if (access === 'server') return
    const waitSeconds = await this.#writes.take(`${apiKey}/${userId}`)
    if (waitSeconds === 0) return
    const message = `A user can add or restore ${maxWritesPerMinute} versions a minute. Try again in ${waitSeconds} seconds.`
    throw new ApiError('RESOURCE_EXHAUSTED', message)
  }

  /** Resolves when no request is under way. */
  async idle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay)
  }
}

function refuse(): never {
  throw new ApiError('PERMISSION_DENIED', readOnly.message)
}
