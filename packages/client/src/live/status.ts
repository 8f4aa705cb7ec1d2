import { closeCodes } from '@plenum/protocol/realtime'

/**
 * How it stands with a connection, a document or an editor. Until `denied` (no valid token, or no permission), `failed`
 * or `closed`, it connects again by itself.
 */
export type Status = 'connecting' | 'connected' | 'reconnecting' | 'denied' | 'failed' | 'closed'

/** Why the server ended it; the codes are `closeCodes`. */
export interface Ending {
  code: number
  reason: string
}

/** Whether a Plenum server said so. All other codes come from networks, proxies and the WebSocket class. */
export const isOfServer = ({ code }: Ending): boolean => code >= 4000 || code === closeCodes.restarting

/** Whether trying again changes nothing. */
export const isFinal = ({ code }: Ending): boolean => code >= 4400 && code <= 4499

export const statusAfter = ({ code }: Ending): 'denied' | 'failed' =>
  code === closeCodes.unauthenticated || code === closeCodes.permissionDenied ? 'denied' : 'failed'
