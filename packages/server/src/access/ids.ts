import { hash } from 'node:crypto'
import { customAlphabet } from 'nanoid'
import { flatText } from '../platform/flat-text.ts'

const randomCharacters = customAlphabet('0123456789abcdefghijklmnopqrstuvwxyz', 20)
const randomDigits = customAlphabet('0123456789', 15)
const randomFirstDigit = customAlphabet('123456789', 1)

/** A new id such as `ws_4f…`: 103 random bits. */
export const newId = (prefix: string) => flatText(`${prefix}_${randomCharacters()}`)

/** A new notification id: sixteen decimal digits, the first of them not 0. */
export const newNotificationId = () => randomFirstDigit() + randomDigits()

/** A key that sorts like the notification id, because `!` sorts before every character that an id may contain. */
export const newNotificationKey = (id: string) => newId(`${id}!`)

const digest = (apiKey: string, kind: string, organizationId: string, clientId: string) =>
  hash('sha256', `${apiKey}|${kind}|${organizationId}|${clientId}`, 'hex')

/** The field `id` in the result of an item (spec 0.6). It is computed, so an item that does not exist has one too. */
export const internalId = (
  apiKey: string,
  kind: 'organization' | 'user' | 'group',
  organizationId: string,
  clientId: string,
) => digest(apiKey, kind, organizationId, clientId).slice(0, 32)

/** The same for a document: sixteen decimal digits. */
export const internalDocumentId = (apiKey: string, organizationId: string, documentId: string) =>
  BigInt(`0x${digest(apiKey, 'document', organizationId, documentId)}`)
    .toString()
    .slice(0, 16)

/** The first 32 hex digits of SHA-256: the key of a user or an email address in an answer's maps (spec 22.6, 22.10). */
export const shortHash = (value: string) => hash('sha256', value, 'hex').slice(0, 32)

/** The field `locationId` of a location: the first 52 bits of the SHA-256 of its id or name (spec 22.5). */
export const locationNumber = (identity: string) =>
  Number.parseInt(hash('sha256', identity, 'hex').slice(0, 13), 16)

const idCharacters = '-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz'
const randomIdCharacters = customAlphabet(idCharacters, 11)

/** A new annotation id: `-`, the time in 8 characters, and 11 random ones. Later ids sort after earlier ones. */
export function newAnnotationId(now: number): string {
  let time = ''
  for (let rest = now, place = 0; place < 8; place++, rest = Math.floor(rest / 64)) {
    time = idCharacters.charAt(rest % 64) + time
  }
  return `-${time}${randomIdCharacters()}`
}

const randomFiveDigits = customAlphabet('0123456789', 5)

/** A new comment id: a number of six digits. */
export const newCommentId = (): number => Number(randomFirstDigit() + randomFiveDigits())
