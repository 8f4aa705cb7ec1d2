import { hash } from 'node:crypto'
import { customAlphabet } from 'nanoid'

const letters = '0123456789abcdefghijklmnopqrstuvwxyz'
const random = customAlphabet(letters, 20)
const digits = customAlphabet('0123456789', 15)
const leading = customAlphabet('123456789', 1)

/** A new id such as `ws_4f…`: 103 random bits. */
export const newId = (prefix: string) => `${prefix}_${random()}`

/** Sixteen decimal digits, the form of generated notification ids. */
export const newDigits = () => leading() + digits()

const digest = (apiKey: string, kind: string, organizationId: string, clientId: string) =>
  hash('sha256', `${apiKey}|${kind}|${organizationId}|${clientId}`, 'hex')

/** The internal id inside per-item results (spec 0.6): derived, so it exists for things that do not. */
export const internalId = (
  apiKey: string,
  kind: 'organization' | 'user' | 'group',
  organizationId: string,
  clientId: string,
) => digest(apiKey, kind, organizationId, clientId).slice(0, 32)

/** As `internalId`, in the form of documents: sixteen decimal digits. */
export const internalDocumentId = (apiKey: string, organizationId: string, documentId: string) =>
  BigInt(`0x${digest(apiKey, 'document', organizationId, documentId)}`)
    .toString()
    .slice(0, 16)

/** First 32 hex digits of SHA-256, the key under which maps hold a user or an address (spec 22.6, 22.10). */
export const shortHash = (value: string) => hash('sha256', value, 'hex').slice(0, 32)

/** The number that records carry for a location, from what identifies it: the first 52 bits of SHA-256 (spec 22.5). */
export const locationNumber = (identity: string) =>
  Number.parseInt(hash('sha256', identity, 'hex').slice(0, 13), 16)
