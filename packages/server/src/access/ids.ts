import { hash } from 'node:crypto'
import { ChosenId } from '@plenum/protocol'
import { customAlphabet } from 'nanoid'
import { Compile } from 'typebox/compile'

const clientId = Compile(ChosenId)

/** Whether a value may be an id that callers choose (spec 0.6): of a user, an organization, a document, an editor. */
export const isId = (value: unknown): value is string => clientId.Check(value)

/** What an id must be, for messages that begin with the name of the field. */
export const idRule =
  'must have 1 to 256 characters, must not contain control characters and must not be "." or "..".'

const letters = '0123456789abcdefghijklmnopqrstuvwxyz'
const random = customAlphabet(letters, 20)
const digits = customAlphabet('0123456789', 15)
const leading = customAlphabet('123456789', 1)

/** A new id such as `ws_4f…`: 103 random bits. */
export const newId = (prefix: string) => `${prefix}_${random()}`

/** A new notification id: sixteen decimal digits. */
export const newDigits = () => leading() + digits()

const digest = (apiKey: string, kind: string, organizationId: string, clientId: string) =>
  hash('sha256', `${apiKey}|${kind}|${organizationId}|${clientId}`, 'hex')

/** The internal id in per-item results (spec 0.6). It is derived, so items that do not exist have one too. */
export const internalId = (
  apiKey: string,
  kind: 'organization' | 'user' | 'group',
  organizationId: string,
  clientId: string,
) => digest(apiKey, kind, organizationId, clientId).slice(0, 32)

/** The internal id of a document: sixteen decimal digits. */
export const internalDocumentId = (apiKey: string, organizationId: string, documentId: string) =>
  BigInt(`0x${digest(apiKey, 'document', organizationId, documentId)}`)
    .toString()
    .slice(0, 16)

/** The first 32 hex digits of SHA-256: the key of a user or an address in maps (spec 22.6, 22.10). */
export const shortHash = (value: string) => hash('sha256', value, 'hex').slice(0, 32)

/** The number of a location in records: the first 52 bits of the SHA-256 of its identity (spec 22.5). */
export const locationNumber = (identity: string) =>
  Number.parseInt(hash('sha256', identity, 'hex').slice(0, 13), 16)
