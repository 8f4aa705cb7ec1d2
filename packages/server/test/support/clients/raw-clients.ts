import type { TestServer } from '../harness.ts'
import type { EditorTarget, RawClient } from './raw-client.ts'
import { RawHocuspocus } from './raw-hocuspocus.ts'
import { RawRealtime } from './raw-realtime.ts'
import { RawYSweet } from './raw-y-sweet.ts'
import { RawYjs } from './raw-yjs.ts'

export const dialects = ['yjs', 'y-sweet', 'hocuspocus', 'realtime'] as const
export type Dialect = (typeof dialects)[number]

/** Whether the server sends clients of the dialect their role. */
export const sendsRole = (dialect: Dialect) => dialect === 'hocuspocus' || dialect === 'realtime'

/** Connects a client of the dialect. */
export function rawClient(
  server: Pick<TestServer, 'url'>,
  dialect: Dialect,
  target: EditorTarget,
): RawClient {
  if (dialect === 'yjs') return new RawYjs(server, target)
  if (dialect === 'y-sweet') return new RawYSweet(server, target)
  return dialect === 'hocuspocus' ? new RawHocuspocus(server, target) : new RawRealtime(server, target)
}
