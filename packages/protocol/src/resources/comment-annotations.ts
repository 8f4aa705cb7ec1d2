import Type, { type TSchema } from 'typebox'
import { when } from '../base/conditions.ts'
import { shortText } from '../base/fields.ts'
import { ChosenId, OrganizationId } from '../base/ids.ts'
import { choice, described, flag, jsonObject, mapOf, openObject, text, v2Only } from '../base/schemas.ts'
import { EditorRange, LocatedRange } from './editor-ranges.ts'
import { AnnotationId, Comment, importedTime, NewComments } from './comments.ts'
import { outcome } from './outcomes.ts'
import { CommentLocation, NewLocation } from './places.ts'
import { NamedUser, User, UserInput } from './users.ts'

const StatusType = choice(
  ['default', 'ongoing', 'terminal'],
  '`default`: open. `ongoing`: in progress. `terminal`: resolved.',
)

const statusId = described(ChosenId, 'Id of the status, such as `OPEN`, `IN_PROGRESS` or `RESOLVED`.')
const statusName = shortText('Name that users see.')
const statusLook = {
  color: Type.Optional(shortText('CSS color of the status.')),
  lightColor: Type.Optional(shortText('CSS color of the background.')),
  svg: Type.Optional(Type.String({ maxLength: 8_000, description: 'Icon as SVG. Stored as sent.' })),
  iconUrl: Type.Optional(Type.String({ maxLength: 2_000, description: 'URL of the icon.' })),
}

/** The status of an annotation (spec 22.9). Further keys are stored. */
export const Status = openObject(
  Type.Object({ id: statusId, name: statusName, type: StatusType, ...statusLook }),
)
export type Status = Type.Static<typeof Status>

/** The statuses that need no declaration (spec 22.9), by type. */
export const builtInStatuses = {
  default: { id: 'OPEN', name: 'Open', type: 'default', color: '#625DF5', lightColor: '#E7E8FA' },
  ongoing: {
    id: 'IN_PROGRESS',
    name: 'In Progress',
    type: 'ongoing',
    color: '#F5A524',
    lightColor: '#FEF3E0',
  },
  terminal: { id: 'RESOLVED', name: 'Resolved', type: 'terminal', color: '#198F65', lightColor: '#EDF6F3' },
} as const satisfies Record<string, Status>

/** A status in an update. Only the type is required: without an id, the built-in status of that type applies. */
export const StatusChange = openObject(
  Type.Object(
    {
      id: Type.Optional(statusId),
      name: Type.Optional(statusName),
      type: StatusType,
      ...statusLook,
    },
    { 'x-conditions': { dependentRequired: { id: ['name'] } } },
  ),
)

export const Priority = openObject(
  Type.Object({
    id: described(ChosenId, 'Id of the priority, such as `P0`.'),
    name: shortText('Name that users see.'),
    color: Type.Optional(shortText('CSS color of the priority.')),
    lightColor: Type.Optional(shortText('CSS color of the background.')),
  }),
)
export type Priority = Type.Static<typeof Priority>

export const TargetElement = openObject(
  Type.Object({
    elementId: Type.Optional(shortText('Id of the DOM element that the annotation is attached to.')),
    targetText: Type.Optional(
      Type.String({ maxLength: 4_000, description: 'The text that the annotation is about.' }),
    ),
    occurrence: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Which occurrence of the text, from 1.' }),
    ),
    selectAllContent: Type.Optional(flag('Whether the annotation is about the whole element.')),
  }),
)

const pageUrl = (description: string) =>
  Type.Optional(
    Type.String({
      maxLength: 2_000,
      pattern: '^https?://[^\\s]+$',
      'x-invalid': 'must be a URL beginning with http:// or https://.',
      description,
    }),
  )

/** The page on which an annotation was added. Further keys are stored. */
export const PageInfo = openObject(
  Type.Object({
    url: pageUrl('Address of the page.'),
    commentUrl: pageUrl('Address that opens the annotation. Emails link to it; without it, to `url`.'),
    title: Type.Optional(shortText('Title of the page, as emails show it.')),
  }),
)

export const CommentContext = openObject(
  Type.Object({
    access: Type.Optional(
      mapOf(
        Type.Union([Type.String({ minLength: 1, maxLength: 200 }), Type.Number()]),
        'Access context: only users who hold every `key:value` of it see the annotation.',
      ),
    ),
  }),
)

export const maxVisibleUsers = 200

/** Who sees an annotation, besides the condition that the user can read the document (spec 25.6). */
export const Visibility = Type.Object(
  {
    type: choice(
      ['public', 'organizationPrivate', 'restricted'],
      '`public`: everyone who can read the document. `organizationPrivate`: members of `organizationId`. `restricted`: the users in `userIds` and the author.',
    ),
    organizationId: Type.Optional(
      described(
        OrganizationId,
        'The organization whose members see the annotation. Default: that of the call.',
      ),
    ),
    userIds: Type.Optional(
      Type.Array(ChosenId, { maxItems: maxVisibleUsers, description: 'The users who see the annotation.' }),
    ),
  },
  {
    'x-conditions': when('type', 'restricted', {
      properties: { userIds: { minItems: 1 } },
      required: ['userIds'],
    }),
  },
)
export type Visibility = Type.Static<typeof Visibility>

/** A proposed change. The server sets `status` of a new one to `pending`. Further keys are stored. */
export const Suggestion = openObject(
  Type.Object({
    targetId: Type.Optional(shortText('Id of what the suggestion changes.')),
    targetType: Type.Optional(shortText('Kind of what the suggestion changes.')),
    summary: Type.Optional(Type.String({ maxLength: 4_000, description: 'The suggestion in words.' })),
    driftDetected: Type.Optional(flag('Whether the target changed after the suggestion was made.')),
    status: Type.Optional(
      choice(['pending', 'accepted', 'rejected'], 'Whether the suggestion was accepted or rejected.'),
    ),
    rejectReason: Type.Optional(Type.String({ maxLength: 4_000, description: 'Why it was rejected.' })),
  }),
)

const orNull = <T extends TSchema>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description })

/** A new annotation with its first comments. */
export const CommentAnnotationInput = Type.Object({
  annotationId: Type.Optional(described(AnnotationId, 'Id of the annotation. Default: a new id.')),
  location: Type.Optional(described(NewLocation, 'Where in the document the annotation is.')),
  targetElement: Type.Optional(described(TargetElement, 'What the annotation is attached to.')),
  commentData: NewComments,
  status: Type.Optional(described(Status, 'Status of the annotation. Default: `OPEN`.')),
  priority: Type.Optional(described(Priority, 'Priority of the annotation.')),
  assignedTo: Type.Optional(described(UserInput, 'The user who should act on the annotation.')),
  context: Type.Optional(described(CommentContext, 'Data of your application, and the access context.')),
  createdAt: Type.Optional(importedTime('Time of creation, in Unix milliseconds. Default: now.')),
  lastUpdated: Type.Optional(importedTime('Time of the last change, in Unix milliseconds. Default: now.')),
  type: v2Only(choice(['comment', 'suggestion'], 'Kind of the annotation. Default: `comment`.')),
  suggestion: v2Only(described(Suggestion, 'The proposed change. Only with `type: "suggestion"`.')),
  commentType: v2Only(choice(['manual', 'chart', 'suggestion'], 'Default: `manual`.')),
  visibility: v2Only(described(Visibility, 'Who sees the annotation. Default: `public`.')),
  targetEditor: v2Only(
    orNull(EditorRange, 'The range of an editor that the annotation is about. Default: none.'),
  ),
  pageInfo: v2Only(described(PageInfo, 'The page on which the annotation was added.')),
})
export type CommentAnnotationInput = Type.Static<typeof CommentAnnotationInput>

/** What an update of annotations changes. A sent field replaces the stored one. */
export const CommentAnnotationChange = Type.Object({
  location: Type.Optional(described(NewLocation, 'The new location.')),
  targetElement: Type.Optional(described(TargetElement, 'What the annotation is attached to.')),
  from: Type.Optional(described(UserInput, 'The author of the annotation.')),
  assignedTo: Type.Optional(
    orNull(UserInput, 'The user who should act on the annotation. `null` removes the assignment.'),
  ),
  context: Type.Optional(described(CommentContext, 'Data of your application, and the access context.')),
  status: Type.Optional(
    described(StatusChange, 'The new status. With only a `type`, the built-in status of that type.'),
  ),
  priority: Type.Optional(orNull(Priority, 'The new priority. `null` removes it.')),
  resolvedByUserId: v2Only(
    orNull(ChosenId, 'The user who resolved the annotation. Only with a status of type `terminal`.'),
  ),
  statusUpdatedByUserId: v2Only(orNull(ChosenId, 'The user who changed the status.')),
  suggestion: v2Only(
    described(
      Suggestion,
      'Replaces the suggestion. Its status goes from `pending` to another one, never back.',
    ),
  ),
  visibility: v2Only(described(Visibility, 'Who sees the annotation from now on.')),
  targetEditor: v2Only(
    orNull(EditorRange, 'The range of an editor that the annotation is about. `null` removes it.'),
  ),
  pageInfo: v2Only(described(PageInfo, 'Replaces the page of the annotation.')),
})
export type CommentAnnotationChange = Type.Static<typeof CommentAnnotationChange>

/** Replaces one user by another everywhere in an annotation. */
export const UserReplacement = Type.Object({
  oldUser: described(NamedUser, 'The user to replace.'),
  newUser: described(UserInput, 'The user who takes the place.'),
})

export type UserReplacement = Type.Static<typeof UserReplacement>

const time = (description: string) =>
  Type.Union([Type.Integer(), Type.String()], {
    description: `${description} In milliseconds; under v1 in ISO 8601.`,
  })

/** Who sees an annotation, in an answer. */
export const VisibilityConfig = openObject(Type.Object({ type: Visibility.properties.type }))

/** An annotation in an answer (spec 22.6). */
export const CommentAnnotation = openObject(
  Type.Object({
    annotationId: text('Id of the annotation.'),
    annotationNumber: Type.Integer({
      description: 'Number of the annotation in its document. It never changes.',
    }),
    type: choice(['comment', 'suggestion'], 'Kind of the annotation.'),
    commentType: text('`manual` or `chart`.'),
    pageInfo: Type.Optional(described(PageInfo, 'The page on which the annotation was added.')),
    comments: Type.Array(Comment, { description: 'The comments, oldest first.' }),
    from: described(User, 'The author of the annotation.'),
    status: described(Status, 'The status.'),
    priority: Type.Optional(described(Priority, 'The priority.')),
    assignedTo: Type.Optional(described(User, 'The user who should act on it.')),
    location: Type.Optional(described(CommentLocation, 'Where in the document it is.')),
    locationId: Type.Optional(Type.Integer({ description: 'The number of the location.' })),
    targetElement: Type.Optional(described(TargetElement, 'What it is attached to.')),
    targetEditor: Type.Optional(
      described(LocatedRange, 'The range of an editor that it is about. Only under v2.'),
    ),
    context: Type.Optional(described(CommentContext, 'Data of your application, and the access context.')),
    visibilityConfig: described(VisibilityConfig, 'Who sees the annotation.'),
    involvedUserIds: Type.Array(Type.String(), {
      description: 'Users who wrote, are mentioned or assigned.',
    }),
    mentionedUserIds: Type.Array(Type.String(), { description: 'Users whom a comment mentions.' }),
    unread: Type.Optional(flag('Whether the user of the call has not seen the newest comment.')),
    metadata: jsonObject('The API key, organization, document and folder.'),
    createdAt: time('When the annotation was added.'),
    lastUpdated: time('When the annotation last changed.'),
  }),
)
export type CommentAnnotation = Type.Static<typeof CommentAnnotation>

export const AnnotationCount = Type.Object({
  total: Type.Integer({ description: 'Annotations that the user may see.' }),
  unread: Type.Integer({ description: 'Those of them with a comment that the user has not seen.' }),
})

export const AddedAnnotation = Type.Object({
  success: outcome.success,
  annotationId: Type.Optional(text('Id of the annotation.')),
  commentIds: Type.Optional(Type.Array(Type.Integer(), { description: 'Ids of the comments.' })),
  message: outcome.message,
})
export type AddedAnnotation = Type.Static<typeof AddedAnnotation>
