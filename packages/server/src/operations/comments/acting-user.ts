import { ApiError, type UserInput, type Visibility } from '@plenum/protocol'
import { canWrite, type Decision } from '../../access/permissions.ts'
import { evaluateSession } from '../../access/sessions/session-access.ts'
import { createVisible } from '../../access/viewers.ts'
import type { CallingUser, HandlerServices, UserCaller } from '../../calls/call.ts'
import type { StoredAnnotation } from '../../store/comments/annotation.ts'
import type { Visible } from '../../store/comments/audience.ts'
import type { Db } from '../../store/engine/db.ts'
import type { DocumentRef } from '../../store/refs.ts'
import { doesNotExist } from '../shared/does-not-exist.ts'

/** The parts of a call that the checks use. */
export interface ActingCall {
  readonly services: Pick<HandlerServices, 'permissionProvider'>
  readonly caller: UserCaller
  readonly db: Db
  readonly now: number
}

export const denied = (message: string) => new ApiError('PERMISSION_DENIED', message)

export const deniedMessage = 'User does not have access to document'

/**
 * Checks that the calling user may read, or write in, the document. Returns which annotations the user may see; undefined: a
 * backend calls, which sees all.
 */
export async function requireAccess(
  call: ActingCall,
  document: DocumentRef,
  need: 'read' | 'write',
): Promise<Visible | undefined> {
  const { user } = call.caller
  if (!user) return undefined
  const { decision, visible } = await findAccess(call, user, document)
  if (need === 'write' ? !canWrite(decision) : !decision.allowed) throw denied(deniedMessage)
  return visible
}

/** What the user may do with the document, and which annotations the user may see in it. */
export async function findAccess(
  { caller, db, now, services }: ActingCall,
  { userId, session }: CallingUser,
  document: DocumentRef,
): Promise<{ decision: Decision; visible: Visible }> {
  const { apiKey } = caller
  const { organizationId } = document
  const answers = services.permissionProvider.answersFor(caller)
  const access = await evaluateSession(db, caller, document, session, now / 1000, answers)
  const { decision, overlay } = access
  return { decision, visible: createVisible(db, { apiKey, organizationId, userId, now, overlay }) }
}

/** Those of the annotations that the calling user may see. */
export async function keepVisible(
  annotations: readonly StoredAnnotation[],
  visible: Visible | undefined,
): Promise<StoredAnnotation[]> {
  if (!visible) return [...annotations]
  const isVisible = await visible(annotations.map(({ audience }) => audience))
  return annotations.filter(({ audience }) => isVisible(audience))
}

/** An annotation that the user may not see does not exist for the user. */
export async function requireVisible(
  annotation: StoredAnnotation,
  visible: Visible | undefined,
): Promise<void> {
  if ((await keepVisible([annotation], visible)).length === 0) throw doesNotExist('Annotation')
}

/** The author of a comment: the calling user, or the user that a backend must name. */
export function authorOf(
  user: CallingUser | undefined,
  from: UserInput | undefined,
  path: string,
): UserInput {
  if (user) {
    if (from !== undefined && from.userId !== user.userId)
      throw denied(`${path}from must be the user of the token.`)
    return { userId: user.userId }
  }
  if (from === undefined) throw new ApiError('INVALID_ARGUMENT', `${path}from is required.`)
  return from
}

/** The user for whom the call acts: the calling user, or the user that a backend must name. */
export function actingUserId(user: CallingUser | undefined, sent: string | undefined): string {
  if (user && sent !== undefined && sent !== user.userId)
    throw denied('userId must be the user of the token.')
  const userId = user?.userId ?? sent
  if (userId === undefined) throw new ApiError('INVALID_ARGUMENT', 'userId is required.')
  return userId
}

/** Refuses fields that only backends may send: a user cannot change the past or act for others. */
export function refuseFields<T extends object>(
  user: CallingUser | undefined,
  sent: T,
  fields: readonly (keyof T & string)[],
  path = '',
): void {
  const found = user && fields.find((field) => sent[field] !== undefined)
  if (found) throw denied(`${path}${found} can only be sent with the credentials of an API key.`)
}

/** Users make annotations private only if the API key allows it (spec 25.6.3). */
export function requirePrivateComments(
  { user, options }: Pick<UserCaller, 'user' | 'options'>,
  visibility: Visibility | undefined,
): void {
  if (!user || !visibility || visibility.type === 'public' || options.enablePrivateComments) return
  throw denied('Private comments are off. Set enablePrivateComments with /v2/workspace/apikeyconfig/update.')
}

/** Only the author and admins may do this. */
export function requireAuthorship(user: CallingUser | undefined, authorId: string, what: string): void {
  if (user && user.userId !== authorId && !user.isAdmin)
    throw denied(`Only the author or an admin can ${what}.`)
}

/** What a client changes notifies users. A backend asks for it. */
export const notifies = (user: CallingUser | undefined, asked: boolean | undefined): boolean =>
  user !== undefined || asked === true
