import type { Duplex } from 'node:stream'
import type { ApiError } from '@plenum/protocol'

/** Refuses an upgrade request with an HTTP response, because there is no WebSocket yet. The body is that of a REST error. */
export function refuseUpgrade(socket: Duplex, error: ApiError): void {
  const body = JSON.stringify(error.toBody())
  socket.end(
    [
      `HTTP/1.1 ${error.httpStatus} ${error.httpStatus === 404 ? 'Not Found' : 'Service Unavailable'}`,
      'content-type: application/json; charset=utf-8',
      `content-length: ${Buffer.byteLength(body)}`,
      'connection: close',
      '',
      body,
    ].join('\r\n'),
  )
}
