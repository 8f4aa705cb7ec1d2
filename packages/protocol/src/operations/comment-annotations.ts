import Type from 'typebox'
import { anyOf } from '../base/conditions.ts'
import { CreateDocument, CreateOrganization, PageSize, PageToken } from '../base/fields.ts'
import {
  ActingUserId,
  ChosenId,
  DocumentId,
  idBatch,
  idFilter,
  OrganizationId,
  requiredIdFilter,
  UserId,
} from '../base/ids.ts'
import { type ErrorExample, operation } from '../base/operation.ts'
import { batch, choice, described, flag, mapOf, maxFilterIds, v2Only } from '../base/schemas.ts'
import {
  AddedAnnotation,
  AnnotationCount,
  builtInStatuses,
  CommentAnnotation as CommentAnnotationSchema,
  CommentAnnotationChange,
  CommentAnnotationInput,
  UserReplacement,
} from '../resources/comment-annotations.ts'
import { AnnotationId, importedTime } from '../resources/comments.ts'
import { LocationId } from '../resources/notifications.ts'
import { NoData, Outcomes } from '../resources/outcomes.ts'
import { exampleAnnotation } from './comment-examples.ts'
import { rangeErrors } from './crdt-errors.ts'

const locationIds = Type.Optional(
  Type.Array(LocationId, {
    maxItems: maxFilterIds,
    description:
      'Only annotations at these locations: their ids, or the numbers that annotations carry for them.',
  }),
)
const authors = Type.Optional(idFilter('Only annotations of these authors.'))

/** Which annotations of a document a write addresses. All conditions that are sent must hold. */
const selectors = {
  locationIds,
  userIds: authors,
  annotationIds: Type.Optional(
    idBatch('Only annotations with these ids. Default: all annotations of the document.'),
  ),
}

const time = (description: string) => v2Only(importedTime(`${description} Unix milliseconds.`))

export const VerifyUserPermissions = flag(
  'True: comments of authors who may not write in the document are refused. Default: false.',
)

export const userRequired: ErrorExample = { status: 'INVALID_ARGUMENT', message: 'userId is required.' }

/** The annotation that an operation addresses. */
export const annotation = {
  organizationId: OrganizationId,
  documentId: DocumentId,
  annotationId: AnnotationId,
}

export const commentAnnotations = {
  add: operation({
    spec: '19.1',
    path: '/commentannotations/add',
    versions: ['v1', 'v2'],
    access: 'user',
    effect: 'write',
    title: 'Add Comment Annotations',
    summary: 'Adds annotations, which are threads of comments, to a document.',
    description:
      'An author who has no profile gets one. Users in `taggedUserContacts`, `assignedTo` and `visibility` must exist. Users can make annotations private only if the option `enablePrivateComments` of the API key is on; backends always can. With `verifyUserPermissions`, annotations of authors who may not write are refused; the others are added. An annotation can be about a range of an editor, which moves with its text: `targetEditor`.',
    input: Type.Object({
      organizationId: OrganizationId,
      documentId: DocumentId,
      createOrganization: v2Only(CreateOrganization),
      createDocument: v2Only(CreateDocument),
      verifyUserPermissions: v2Only(VerifyUserPermissions),
      commentAnnotations: batch(CommentAnnotationInput, 'The annotations to add.'),
    }),
    output: mapOf(AddedAnnotation, 'The result for each annotation, by its id.'),
    message: 'Comment Annotation(s) added successfully.',
    errors: [
      { status: 'INVALID_ARGUMENT', message: 'Organization does not exist.' },
      { status: 'INVALID_ARGUMENT', message: 'Document does not exist.' },
      { status: 'INVALID_ARGUMENT', message: 'commentAnnotations[0].commentData[0].from is required.' },
      {
        status: 'INVALID_ARGUMENT',
        message: 'commentAnnotations[0].commentData[0].commentText is required.',
      },
      {
        status: 'INVALID_ARGUMENT',
        message: 'commentAnnotations[0].location must have an id or a locationName.',
      },
      {
        status: 'INVALID_ARGUMENT',
        message: 'commentAnnotations[0].assignedTo: the user user_9 does not exist.',
      },
      ...rangeErrors('commentAnnotations[0].targetEditor'),
      {
        status: 'PERMISSION_DENIED',
        message: 'User does not have access to document',
        details: {
          '__svc_denied:0': { success: false, message: 'User does not have access to document' },
        },
      },
      {
        status: 'ALREADY_EXISTS',
        message: 'Annotation already exists.',
        details: { a1: { success: false, annotationId: 'a1', message: 'Annotation already exists.' } },
      },
    ],
    example: {
      input: {
        organizationId: 'org_1',
        documentId: 'doc_1',
        createOrganization: true,
        createDocument: true,
        commentAnnotations: [
          {
            annotationId: '-O0mpUziLcBwzkXRBCAc',
            location: { id: 'page_1', locationName: 'Page 1' },
            targetElement: { elementId: 'total', targetText: '42', occurrence: 1 },
            commentData: [
              {
                commentId: 126535,
                commentText: 'Is this number right?',
                from: { userId: 'user_1', name: 'Ada' },
              },
            ],
            status: builtInStatuses.default,
            priority: { id: 'P0', name: 'Urgent' },
            assignedTo: { userId: 'user_1' },
            createdAt: 1738695077691,
            visibility: { type: 'public' },
          },
        ],
      },
      output: {
        '-O0mpUziLcBwzkXRBCAc': {
          success: true,
          annotationId: '-O0mpUziLcBwzkXRBCAc',
          commentIds: [126535],
          message: 'Added Successfully',
        },
      },
    },
  }),
  get: operation({
    spec: '19.2',
    path: '/commentannotations/get',
    versions: ['v1', 'v2'],
    access: 'user',
    effect: 'read',
    requires: 'useAdvancedQueries',
    title: 'Get Comment Annotations',
    summary: 'Reads annotations with their comments.',
    description:
      'v1 requires `documentId`, has no pages and returns times in ISO 8601. With `annotationIds`, the answer has `null` in the place of each annotation that does not exist.',
    input: Type.Object(
      {
        organizationId: OrganizationId,
        documentId: Type.Optional(
          described(ChosenId, 'Only annotations of this document. Required under v1.'),
        ),
        documentIds: v2Only(
          idFilter('Only annotations of these documents. With `documentId`, of the document that is both.'),
        ),
        folderId: v2Only(described(ChosenId, 'Only annotations of the documents directly in this folder.')),
        locationIds,
        annotationIds: Type.Optional(idFilter('Only annotations with these ids.')),
        userIds: authors,
        mentionedUserIds: v2Only(idFilter('Only annotations that mention one of these users.')),
        resolvedBy: v2Only(described(ChosenId, 'Only annotations that this user resolved.')),
        statusIds: v2Only(idFilter('Only annotations with one of these statuses.')),
        statusId: v2Only(described(ChosenId, 'The same as `statusIds` with one id.')),
        updatedAfter: time('Only annotations changed after this time.'),
        updatedBefore: time('Only annotations changed before this time.'),
        createdAfter: time('Only annotations added after this time.'),
        createdBefore: time('Only annotations added before this time.'),
        groupByDocumentId: v2Only(flag('True: the answer has a list of annotations for each document.')),
        order: v2Only(choice(['asc', 'desc'], 'Order by `lastUpdated`. Default: `desc`, newest first.')),
        pageSize: v2Only(PageSize),
        pageToken: v2Only(PageToken),
      },
      { 'x-v1-conditions': { required: ['documentId'] } },
    ),
    output: Type.Union([
      Type.Array(Type.Union([CommentAnnotationSchema, Type.Null()])),
      mapOf(Type.Array(CommentAnnotationSchema)),
    ]),
    groupedBy: 'groupByDocumentId',
    paging: ['nextPageToken'],
    message: 'Annotations fetched successfully.',
    v2Message: {
      message: 'Annotation(s) fetched successfully.',
      when: 'without `groupByDocumentId`',
    },
    errors: [
      { status: 'INVALID_ARGUMENT', message: 'documentId is required.' },
      { status: 'INVALID_ARGUMENT', message: 'Invalid page token.' },
    ],
    example: {
      input: { organizationId: 'org_1', documentId: 'doc_1' },
      output: [exampleAnnotation],
      isV2Message: true,
    },
  }),
  update: operation({
    spec: '19.3',
    path: '/commentannotations/update',
    versions: ['v1', 'v2'],
    access: 'user',
    effect: 'write',
    title: 'Update Comment Annotations',
    summary: 'Changes annotations of a document.',
    description:
      'Without selectors, all annotations of the document are changed, up to 500. A status of another type than `terminal` removes who resolved the annotation. A range in `targetEditor` is set for each of them.',
    input: Type.Object(
      {
        organizationId: OrganizationId,
        documentId: DocumentId,
        ...selectors,
        updatedData: Type.Optional(
          Type.Union(
            [
              CommentAnnotationChange,
              Type.Array(CommentAnnotationChange, {
                minItems: 1,
                maxItems: 1,
                description: 'A list of one.',
              }),
            ],
            { description: 'The change, or a list with one change. Required unless `updateUsers` is sent.' },
          ),
        ),
        updateUsers: Type.Optional(
          Type.Array(UserReplacement, {
            minItems: 1,
            maxItems: maxFilterIds,
            description: 'Users to replace everywhere in the annotations, also in mentions.',
          }),
        ),
        triggerNotification: v2Only(
          flag('True: users are notified as if a client had made the change. Default: false.'),
        ),
      },
      { 'x-conditions': anyOf('updatedData', 'updateUsers') },
    ),
    output: Outcomes,
    message: 'Annotations updated successfully.',
    errors: [
      {
        status: 'INVALID_ARGUMENT',
        message: 'At least one of updatedData or updateUsers must be provided.',
      },
      {
        status: 'INVALID_ARGUMENT',
        message: 'More than 500 annotations match. Send annotationIds to change them in parts.',
      },
      { status: 'INVALID_ARGUMENT', message: 'updatedData.location must have an id or a locationName.' },
      ...rangeErrors('updatedData.targetEditor'),
    ],
    example: {
      input: {
        organizationId: 'org_1',
        documentId: 'doc_1',
        annotationIds: ['a1', 'a2'],
        updatedData: { status: builtInStatuses.terminal, priority: { id: 'P1', name: 'High' } },
      },
      output: {
        a1: { success: true, id: 'a1', message: 'Annotations updated successfully' },
        a2: { success: false, id: 'a2', message: 'Annotation not found.' },
      },
    },
  }),
  delete: operation({
    spec: '19.4',
    path: '/commentannotations/delete',
    versions: ['v1', 'v2'],
    access: 'user',
    effect: 'write',
    title: 'Delete Comment Annotations',
    summary: 'Deletes annotations with their comments, reactions and notifications.',
    description:
      'Without selectors, all annotations of the document are deleted. Without `organizationId`, the document is found by its id, if only one organization has it.',
    input: Type.Object({
      organizationId: Type.Optional(
        described(ChosenId, 'Id of the organization. Required if several organizations have the document.'),
      ),
      documentId: DocumentId,
      ...selectors,
    }),
    output: Outcomes,
    message: 'Annotations deleted successfully.',
    errors: [
      { status: 'INVALID_ARGUMENT', message: 'organizationId is required.' },
      { status: 'INVALID_ARGUMENT', message: 'Document does not exist.' },
    ],
    example: {
      input: { organizationId: 'org_1', documentId: 'doc_1', annotationIds: ['a1', 'a2'] },
      output: {
        a1: { success: true, id: 'a1', message: 'Deleted Successfully' },
        a2: { success: false, id: 'a2', message: 'Annotation not found.' },
      },
    },
  }),
  count: operation({
    spec: '19.5',
    path: '/commentannotations/count/get',
    versions: ['v1', 'v2'],
    access: 'user',
    effect: 'read',
    requires: 'useAdvancedQueries',
    title: 'Get Comment Annotations Count',
    summary: 'Counts the annotations of documents that a user may see, and those with unread comments.',
    input: Type.Object({
      organizationId: OrganizationId,
      documentIds: requiredIdFilter('The documents.'),
      userId: UserId,
      statusIds: Type.Optional(idFilter('Only annotations with one of these statuses.')),
    }),
    output: mapOf(AnnotationCount, 'The counts by document.'),
    message: 'Comment count retrieved successfully.',
    example: {
      input: { organizationId: 'org_1', documentIds: ['doc_1', 'doc_2'], userId: 'user_1' },
      output: { doc_1: { total: 4, unread: 2 }, doc_2: { total: 0, unread: 0 } },
    },
  }),
  markViewed: operation({
    spec: '19.6',
    path: '/commentannotations/viewed',
    versions: ['v2'],
    access: 'user',
    effect: 'write',
    title: 'Mark Comment Annotations as Viewed',
    summary: 'Records that a user has seen the comments of annotations, so they are no longer unread.',
    input: Type.Object({
      organizationId: OrganizationId,
      documentId: DocumentId,
      annotationIds: idBatch('The annotations that the user has seen.'),
      userId: Type.Optional(ActingUserId),
    }),
    output: Outcomes,
    message: 'Annotations marked as viewed.',
    errors: [userRequired],
    example: {
      input: { organizationId: 'org_1', documentId: 'doc_1', annotationIds: ['a1', 'a2'], userId: 'user_1' },
      output: {
        a1: { success: true, id: 'a1', message: 'Annotation viewed.' },
        a2: { success: false, id: 'a2', message: 'Annotation not found.' },
      },
    },
  }),
  subscribe: operation({
    spec: '19.7',
    path: '/commentannotations/subscribe',
    versions: ['v2'],
    access: 'user',
    effect: 'write',
    title: 'Subscribe to a Comment Annotation',
    summary: 'Subscribes a user to the changes of an annotation, or ends the subscription.',
    description: 'Authors, mentioned users and assignees are subscribed without a call.',
    input: Type.Object({
      ...annotation,
      userId: Type.Optional(ActingUserId),
      subscribed: Type.Optional(flag('False: the user is not notified any more. Default: true.')),
    }),
    output: NoData,
    message: 'Subscription updated successfully.',
    errors: [userRequired, { status: 'INVALID_ARGUMENT', message: 'Annotation does not exist.' }],
    example: {
      input: { organizationId: 'org_1', documentId: 'doc_1', annotationId: 'a1', userId: 'user_1' },
      output: null,
    },
  }),
}
