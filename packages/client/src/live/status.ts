import { closeCodes } from '@plenum/protocol/realtime'

/**
 * The status of a connection, a document or an editor:
 *
 * - `connecting`: It has not been connected yet.
 * - `connected`: It is connected. For an editor, its content has loaded too.
 * - `reconnecting`: The connection was lost. The client reconnects automatically.
 * - `denied`: The token is not valid, or the user lacks the permission. A document opens again when the user has access.
 * - `failed`: It ended for another reason, and a retry would not help.
 * - `closed`: Your application closed it.
 */
export type Status = 'connecting' | 'connected' | 'reconnecting' | 'denied' | 'failed' | 'closed'

/** Why the server ended a connection, a document or an editor. */
export interface Ending {
  /** One of the values of `closeCodes`. */
  code: number
  /** The server's explanation. */
  reason: string
}

/** Whether a Plenum server sent the code. All other codes come from networks, proxies and the WebSocket class. */
export const isFromServer = ({ code }: Ending): boolean => code >= 4000 || code === closeCodes.restarting

/** Whether a retry is useless. */
export const isFinal = ({ code }: Ending): boolean => code >= 4400 && code <= 4499

/** Whether the user lacks the permission, and may get it later. */
export const isDenial = ({ code }: Ending): boolean => code === closeCodes.permissionDenied

/** The status after a final ending. */
export const statusAfter = ({ code }: Ending): 'denied' | 'failed' =>
  code === closeCodes.unauthenticated || code === closeCodes.permissionDenied ? 'denied' : 'failed'
