import { parseEditorName } from './documents/editor-name.ts'
import type { CreateDialectClient } from './dialects/dialect.ts'
import { HocuspocusClient } from './dialects/hocuspocus/hocuspocus.ts'
import { JsonClient } from './dialects/json/json.ts'
import { createYSweetClient } from './dialects/y-sweet.ts'
import { YjsClient } from './dialects/yjs.ts'

/** The dialects, by the first part of their path. */
export const dialects = {
  yjs: (context, name) => new YjsClient(context, parseEditorName(name)),
  'y-sweet': createYSweetClient,
  hocuspocus: (context) => new HocuspocusClient(context),
  realtime: (context) => new JsonClient(context),
} satisfies Record<string, CreateDialectClient>

export type DialectName = keyof typeof dialects
export const dialectNames = Object.keys(dialects) as DialectName[]

/** The dialects whose path continues with the name of an editor. */
const namingDialects: readonly DialectName[] = ['yjs', 'y-sweet']

export interface Endpoint {
  dialect: DialectName
  /** The part of the path after the dialect, not decoded. An invalid name is refused once the socket is open. */
  name: string
  token: string | null
}

/**
 * Returns the endpoint at a path, or undefined if there is none. Reads the path as the client sent it, because a `URL`
 * resolves dots in the path, even percent-encoded dots.
 */
export function endpointOf(url: string): Endpoint | undefined {
  if (!URL.canParse(url, 'http://host')) return undefined
  const [, path = ''] = /^(?:https?:\/\/[^/?#]*)?(\/[^?#]*)/i.exec(url) ?? []
  const [, first = '', ...rest] = path.split('/')
  const dialect = dialectNames.find((name) => name === first)
  if (dialect === undefined) return undefined
  if (!namingDialects.includes(dialect) && rest.some((part) => part !== '')) return undefined
  const token = new URL(url, 'http://host').searchParams.get('token')
  return { dialect, name: rest.join('/'), token }
}
