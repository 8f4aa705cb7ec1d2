import Type from 'typebox'
import { maxPageTokenLength, maxShortNameLength } from './limits.ts'
import { choice, described, flag } from './schemas.ts'

/** A text of at most 1,000 characters. */
export const shortText = (description: string) => Type.String({ maxLength: 1000, description })

/** A name that users see. */
export const displayName = shortText

/** A name that must not be blank. */
export const nonBlankName = (description: string) =>
  Type.String({
    maxLength: maxShortNameLength,
    pattern: '\\S',
    'x-invalid': 'must not be blank.',
    description,
  })

export const longText = (description: string) => Type.String({ maxLength: 100_000, description })

export const emailAddress = (description: string) => Type.String({ maxLength: 320, description })

/** A Unix time in milliseconds. */
const timestamp = (description: string) => Type.Integer({ description })

export const CreatedAt = timestamp('Time of creation, as Unix time in milliseconds.')
export const LastUpdated = timestamp('Time of the last change, as Unix time in milliseconds.')

export const AccessType = choice(
  ['public', 'restricted', 'organizationPrivate'],
  'Who has access. `public`: every user. `organizationPrivate`: users with a grant on the organization, the folder or the document. `restricted`: users with a grant on the folder or document where the type was set, or below it.',
)
/** The access type of a resource in an answer. */
export const EffectiveAccessType = described(AccessType, 'The access type that applies, set or inherited.')
export const AccessRole = choice(
  ['viewer', 'editor'],
  'What the user may do: a `viewer` reads, an `editor` reads and writes.',
)

export const CreateOrganization = flag(
  'Whether to create the organization if it does not exist. Default: false.',
)
export const CreateFolder = flag('Whether to create the folder if it does not exist. Default: false.')
export const CreateDocument = flag('Whether to create the document if it does not exist. Default: false.')

export const PageSize = Type.Integer({
  minimum: 1,
  maximum: 1000,
  description: 'Maximum number of items on the page.',
})
/** Users read short pages, so that one call costs little. */
export const UserPageSize = Type.Integer({
  minimum: 1,
  maximum: 200,
  description: 'Maximum number of items on the page. Default: 50.',
})
export const PageToken = Type.String({
  maxLength: maxPageTokenLength,
  description: 'The page to read: the `nextPageToken` of the previous page.',
})
