import Type from 'typebox'
import { CreateDocument, CreateOrganization } from '../base/fields.ts'
import { idFilter } from '../base/ids.ts'
import { type ErrorExample, operation } from '../base/operation.ts'
import { described, flag, mapOf, maxBatchItems, v2Only } from '../base/schemas.ts'
import {
  Comment,
  CommentChange,
  CommentId,
  CommentOutcome,
  NewComments,
  ReactionInput,
} from '../resources/comments.ts'
import { NoData } from '../resources/outcomes.ts'
import { annotation, userRequired, VerifyUserPermissions } from './comment-annotations.ts'
import { exampleComment } from './comment-examples.ts'

const unknownAnnotation: ErrorExample = {
  status: 'INVALID_ARGUMENT',
  message: 'Annotation does not exist.',
}

const commentIds = (description: string) =>
  Type.Array(CommentId, { minItems: 1, maxItems: maxBatchItems, description })

const place = { organizationId: 'org_1', documentId: 'doc_1', annotationId: 'a1' }

const unknownComment: ErrorExample = { status: 'INVALID_ARGUMENT', message: 'Comment does not exist.' }

const exampleReaction = { ...place, commentId: 126535, icon: 'HEART_FACE', userId: 'user_1' }

export const comments = {
  add: operation({
    spec: '20.1',
    path: '/commentannotations/comments/add',
    versions: ['v1', 'v2'],
    access: 'user',
    effect: 'write',
    title: 'Add Comments',
    summary: 'Adds comments to an annotation.',
    input: Type.Object({
      ...annotation,
      createOrganization: v2Only(CreateOrganization),
      createDocument: v2Only(CreateDocument),
      verifyUserPermissions: v2Only(VerifyUserPermissions),
      commentData: NewComments,
    }),
    output: Type.Array(CommentId, { description: 'Ids of the new comments.' }),
    message: 'Comment(s) added successfully.',
    errors: [
      { status: 'INVALID_ARGUMENT', message: 'Organization does not exist.' },
      { status: 'INVALID_ARGUMENT', message: 'Document does not exist.' },
      unknownAnnotation,
      { status: 'ALREADY_EXISTS', message: 'Comment 778115 already exists.' },
      { status: 'INVALID_ARGUMENT', message: 'commentData[0].from is required.' },
      { status: 'INVALID_ARGUMENT', message: 'commentData[0].commentText is required.' },
      { status: 'PERMISSION_DENIED', message: 'User does not have access to document' },
    ],
    example: {
      input: {
        ...place,
        commentData: [
          { commentId: 778115, commentText: 'Yes, I checked it.', from: { userId: 'user_2', name: 'Grace' } },
        ],
      },
      output: [778115],
    },
  }),
  get: operation({
    spec: '20.2',
    path: '/commentannotations/comments/get',
    versions: ['v1', 'v2'],
    access: 'user',
    effect: 'read',
    title: 'Get Comments',
    summary: 'Reads the comments of an annotation, oldest first.',
    description: 'With `commentIds`, the answer has `null` in the place of each comment that does not exist.',
    input: Type.Object({
      ...annotation,
      commentIds: Type.Optional(commentIds('Only comments with these ids.')),
      userIds: Type.Optional(idFilter('Only comments of these authors.')),
    }),
    output: Type.Array(Type.Union([Comment, Type.Null()])),
    message: 'Comments(s) retrieved successfully.',
    v2Message: { message: 'Comments retrieved successfully.', when: 'always' },
    errors: [unknownAnnotation],
    example: { input: place, output: [exampleComment], isV2Message: true },
  }),
  update: operation({
    spec: '20.3',
    path: '/commentannotations/comments/update',
    versions: ['v1', 'v2'],
    access: 'user',
    effect: 'write',
    title: 'Update Comments',
    summary: 'Changes comments of an annotation.',
    description: 'A sent field replaces the stored one. The comments are then marked as edited.',
    input: Type.Object({
      ...annotation,
      commentIds: commentIds('The comments to change.'),
      updatedData: described(CommentChange, 'The fields to change.'),
      triggerNotification: v2Only(
        flag('True: users are notified as if a client had made the change. Default: false.'),
      ),
    }),
    output: mapOf(CommentOutcome, 'The result for each comment, by its id.'),
    message: 'Comment updated successfully.',
    errors: [unknownAnnotation],
    example: {
      input: {
        ...place,
        commentIds: [607395],
        updatedData: { commentText: 'Yes. I checked it twice.', from: { userId: 'user_2' } },
      },
      output: { '607395': { success: true, id: 607395, message: 'Updated successfully' } },
    },
  }),
  delete: operation({
    spec: '20.4',
    path: '/commentannotations/comments/delete',
    versions: ['v1', 'v2'],
    access: 'user',
    effect: 'write',
    title: 'Delete Comments',
    summary: 'Deletes comments of an annotation.',
    description:
      'Without `commentIds`, all comments are deleted. An annotation without comments is deleted too.',
    input: Type.Object({
      ...annotation,
      commentIds: Type.Optional(commentIds('The comments to delete. Default: all.')),
    }),
    output: mapOf(CommentOutcome, 'The result for each comment, by its id.'),
    message: 'Comments(s) deleted successfully.',
    errors: [unknownAnnotation],
    example: {
      input: { ...place, commentIds: [153783, 607395] },
      output: {
        '153783': { success: true, id: 153783, message: 'Deleted successfully' },
        '607395': { success: false, id: 607395, message: 'Not found' },
      },
    },
  }),
  addReaction: operation({
    spec: '20.5',
    path: '/commentannotations/comments/reactions/add',
    versions: ['v2'],
    access: 'user',
    effect: 'write',
    title: 'Add Reaction',
    summary: 'Adds the reaction of a user to a comment.',
    description: 'A user reacts to a comment once with each icon. Adding it again changes nothing.',
    input: ReactionInput,
    output: NoData,
    message: 'Reaction added successfully.',
    errors: [userRequired, unknownAnnotation, unknownComment],
    example: { input: exampleReaction, output: null },
  }),
  deleteReaction: operation({
    spec: '20.6',
    path: '/commentannotations/comments/reactions/delete',
    versions: ['v2'],
    access: 'user',
    effect: 'write',
    title: 'Delete Reaction',
    summary: 'Removes the reaction of a user to a comment.',
    description: 'Removing a reaction that is not there changes nothing.',
    input: ReactionInput,
    output: NoData,
    message: 'Reaction deleted successfully.',
    errors: [userRequired, unknownAnnotation, unknownComment],
    example: { input: exampleReaction, output: null },
  }),
}
