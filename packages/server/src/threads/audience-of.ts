import { ApiError, type CommentAnnotationInput, type Visibility } from '@plenum/protocol'
import type { StoredAnnotation } from '../store/comments/annotation.ts'
import { type Audience, withoutFormer } from '../store/comments/audience.ts'

/** Keys that would look like the server's own fields of an access context (spec 22.6). */
const reservedKeys = ['organizationPrivate', '__svc_private_self']

/** The fields of an access context, as `key:value`. A key has no `:`, so two different fields never look the same. */
function accessFieldsOf(context: CommentAnnotationInput['context']): string[] {
  const entries = Object.entries(context?.access ?? {})
  for (const [key] of entries) {
    if (reservedKeys.includes(key) || key.trim() === '' || key.length > 100 || key.includes(':')) {
      throw new ApiError(
        'INVALID_ARGUMENT',
        `context.access must have keys of 1 to 100 characters without ":", other than ${reservedKeys.join(' and ')}.`,
      )
    }
  }
  return entries.map(([key, value]) => `${key}:${value}`)
}

interface AudienceInput {
  visibility: Visibility | undefined
  context: CommentAnnotationInput['context']
  authorId: string
  /** The organization of the document. */
  organizationId: string
}

/** Who may see an annotation; null: everyone who can read the document. */
export function audienceOf({
  visibility,
  context,
  authorId,
  organizationId,
}: AudienceInput): Audience | null {
  const access = accessFieldsOf(context)
  const audience: Audience = {
    ...(visibility?.type === 'restricted' && {
      users: [...new Set([...(visibility.userIds ?? []), authorId])],
    }),
    ...(visibility?.type === 'organizationPrivate' && {
      organizations: [visibility.organizationId ?? organizationId],
      users: [authorId],
    }),
    ...(access.length > 0 && { access, authorUserId: authorId }),
  }
  return Object.keys(audience).length > 0 ? audience : null
}

/** A longer audience is not kept when it changes. Clients that may have lost the annotation then load all annotations again. */
const maxFormerLength = 2048

/** The audience of the annotation after the change `seq`, with the former one, so that clients learn what they may not see any more. */
export function changedAudience(
  { audience: before, audienceSeq }: StoredAnnotation,
  audience: Audience | null,
  seq: number,
): Pick<StoredAnnotation, 'audience' | 'audienceSeq'> {
  const former = withoutFormer(before)
  const json = JSON.stringify(former)
  if (json === JSON.stringify(audience)) return { audience: before, audienceSeq }
  const isKept = audience !== null && json.length <= maxFormerLength
  return {
    audience: isKept
      ? { ...audience, former: { audience: former, since: audienceSeq, until: seq } }
      : audience,
    audienceSeq: seq,
  }
}

export function checkVisibility(visibility: Visibility | undefined, path: string): void {
  if (visibility?.type === 'restricted' && !visibility.userIds?.length) {
    throw new ApiError('INVALID_ARGUMENT', `${path}.userIds must not be empty.`)
  }
}

/** The visibility as callers read it (spec 22.6). */
export function presentVisibility(visibility: Visibility | undefined, audience: Audience | null) {
  const { type } = visibility ?? { type: 'public' as const }
  if (type === 'public') return { type }
  const { users = [], organizations } = audience ?? {}
  return {
    type,
    ...(organizations && { organizationId: organizations[0], organizationIds: organizations }),
    userIds: users,
  }
}
