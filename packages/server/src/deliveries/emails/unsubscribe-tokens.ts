import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Secrets } from '../../access/credentials/secrets.ts'
import type { DocumentRef } from '../../store/refs.ts'

/** The user who unsubscribes, and the document that the mail was about. */
export interface UnsubscribeTarget extends DocumentRef {
  apiKey: string
  userId: string
}

/** Longer links break the limit of 998 characters for a line of a header. Only ids of hundreds of characters lead to them. */
const maxTokenCharacters = 850

/** Returns undefined if the ids are so long that the link would not fit into a header. */
export function createUnsubscribeToken(
  { unsubscribeKey }: Pick<Secrets, 'unsubscribeKey'>,
  { apiKey, organizationId, documentId, userId }: UnsubscribeTarget,
): string | undefined {
  const content = Buffer.from(JSON.stringify([apiKey, organizationId, documentId, userId])).toString(
    'base64url',
  )
  const token = `${content}.${signatureOf(unsubscribeKey, content).toString('base64url')}`
  return token.length > maxTokenCharacters ? undefined : token
}

/** The link in a mail. */
export function unsubscribeUrl(
  publicUrl: string,
  secrets: Pick<Secrets, 'unsubscribeKey'>,
  target: UnsubscribeTarget,
): string | undefined {
  const token = createUnsubscribeToken(secrets, target)
  return token === undefined ? undefined : new URL(`/unsubscribe/${token}`, publicUrl).href
}

/** Returns undefined if this server has not signed the token. It never expires: old mails must be able to stop new ones. */
export function readUnsubscribeToken(
  { unsubscribeKey }: Pick<Secrets, 'unsubscribeKey'>,
  token: string,
): UnsubscribeTarget | undefined {
  const [content = '', signature = '', ...rest] = token.split('.', 3)
  if (token.length > maxTokenCharacters || rest.length > 0) return undefined
  const expected = signatureOf(unsubscribeKey, content)
  const sent = Buffer.from(signature, 'base64url')
  if (sent.length !== expected.length || !timingSafeEqual(sent, expected)) return undefined
  const ids = JSON.parse(Buffer.from(content, 'base64url').toString()) as [string, string, string, string]
  const [apiKey, organizationId, documentId, userId] = ids
  return { apiKey, organizationId, documentId, userId }
}

const signatureOf = (key: Buffer, content: string) => createHmac('sha256', key).update(content).digest()
