import Type from 'typebox'
import { LastUpdated } from '../base/fields.ts'
import { choice, described, flag, jsonObject, text } from '../base/schemas.ts'
import { onlineStatuses } from '../realtime.ts'

/** Characters of a string in a message, unless its field says otherwise. */
const maxTextLength = 1000

const natural = (description: string) =>
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description })

/** A string of a client. The handler checks what it means, such as whether it is a valid id. */
export const clientText = (description: string, maxLength = maxTextLength) =>
  Type.String({ minLength: 1, maxLength, description })

/**
 * Marks the field that is stored, at most one of a message. A string that cannot be stored is refused with `error`. The
 * handler gets an object as JSON text.
 */
export const stored = { 'x-stored': true }

export const Ref = natural('Number of the document on this connection, chosen by the client.')
export const Channel = natural('Number of the editor on this connection, chosen by the client.')
export const RequestId = natural(
  'Number of the request, chosen by the client. The answer has the same number.',
)

export const CloseCode = Type.Integer({
  description:
    'A [close code](../guides/realtime.md#close-codes). It says whether opening again can succeed.',
})
export const CloseText = text('Why the server closed it, as a sentence.')

export const ListName = choice(
  ['documents', 'people'],
  'Which list of the organization: the documents that the user can open, or the people.',
)

export const Topic = choice(['presence', 'liveState', 'comments'], 'What to subscribe to.')
export const OnlineStatus = choice(onlineStatuses, 'The status that other users see.')

export const Position = Type.Object(
  {
    epoch: clientText(
      'Another epoch is another document under the same id, created after the first one was deleted or moved.',
    ),
    seq: natural('Number of the change.'),
  },
  { description: 'The last change of a document that a client has received.' },
)

/** A user in the presence list of a document. `PresentUser` is the same with a type for `data`. */
export const PresenceEntry = Type.Object(
  {
    userId: text('Id of the user, from the token or a backend.'),
    name: Type.Optional(text('Display name of the user, from the token or a backend.')),
    email: Type.Optional(text('Email address of the user, from the token or a backend.')),
    photoUrl: Type.Optional(text('URL of a picture, from the token or the profile of the user.')),
    color: text(
      'CSS color, the same for every client: from the token or the profile, or derived from the user id.',
    ),
    onlineStatus: described(
      OnlineStatus,
      'The status. With several clients of the user: `online` if one of them is online, otherwise `away` if one is away.',
    ),
    data: Type.Optional(
      jsonObject('The data that a client of the user set: of several clients, the one that was active last.'),
    ),
    source: choice(['client', 'rest'], '`rest`: a backend wrote the latest update of the entry.'),
    timestamp: Type.Integer({
      description: 'When the entry last changed, as Unix time in milliseconds.',
    }),
  },
  {
    description: 'A user in the presence list of a document. A user with several connections has one entry.',
  },
)

export const LiveStateAuthor = Type.Object({
  userId: text('Id of the user. `rest-api`: a backend changed the value.'),
})

export const LiveStateValue = Type.Object({
  id: text('Id that the server derives from `liveStateDataId`.'),
  liveStateDataId: text('Id of the live state inside the document.'),
  data: jsonObject('The value.'),
  lastUpdated: LastUpdated,
  updatedBy: described(LiveStateAuthor, 'Who made the last change.'),
})

/** Changes of comment annotations. */
export const threadFields = {
  reset: flag(
    'True: too much changed. Load the annotations again with a `call` of `commentAnnotations.get`. The lists are empty.',
  ),
  changed: Type.Array(
    jsonObject(
      'The annotation, as Get Comment Annotations answers it, without `unread`, which is a list of the message.',
    ),
    {
      description: 'Annotations that were added or changed.',
    },
  ),
  removed: Type.Array(Type.String(), {
    description: 'Ids of annotations that were deleted, or that the user may not see any more.',
  }),
  large: Type.Array(Type.String(), {
    description:
      'Ids of annotations that were added or changed, and are too large to be sent. Load them with a `call`.',
  }),
  unread: Type.Array(Type.String(), {
    description: 'Ids of those annotations in `changed` that have a comment which the user has not seen.',
  }),
  viewed: Type.Array(Type.String(), {
    description:
      'Ids of annotations that were marked as viewed, with any client of the user or by a backend: none of their comments is unread any more.',
  }),
}
export const ThreadChanges = Type.Object(threadFields)
