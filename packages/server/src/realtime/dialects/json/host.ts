import type { ErrorStatus } from '@plenum/protocol'
import type { ServerMessage } from '@plenum/protocol/realtime'
import type { Clock } from '../../../platform/clock.ts'
import type { Identity } from '../../authorization/identity.ts'
import type { RealtimeServices } from '../../editors/realtime-services.ts'
import type { Subject } from '../../messages/message.ts'
import type { Backlog } from '../../sockets/backlog.ts'
import type { Connection } from '../../sockets/connection.ts'

/** A client at `/realtime`, as its documents, editors and requests see it. */
export interface JsonHost {
  readonly connection: Connection
  readonly services: RealtimeServices
  readonly backlog: Backlog
  readonly clock: Clock
  /** Throws before the client is identified. Until then, only the handler of `auth` runs. */
  readonly identity: Identity
  send(message: ServerMessage): void
  /** Refuses a message with `error`. The connection stays open. */
  refuse(subject: Subject, status: ErrorStatus, message: string, details?: unknown): void
  onTokenExpiring(): void
}
