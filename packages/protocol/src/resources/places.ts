import Type from 'typebox'
import { anyOf, withConditions } from '../base/conditions.ts'
import { ChosenId } from '../base/ids.ts'
import { described, openObject } from '../base/schemas.ts'

/** A place inside a document (spec 22.5). Further keys are stored. */
export const CommentLocation = openObject(
  Type.Object({
    id: Type.Optional(
      Type.Union([ChosenId, Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })], {
        description: 'Id of the location. `0` is an id.',
      }),
    ),
    locationName: Type.Optional(
      described(ChosenId, 'Name of the location. It identifies the location if there is no `id`.'),
    ),
  }),
)

/** A location in a request. The index of the package exports only `CommentLocation`: both are one type. */
export const NewLocation = withConditions(CommentLocation, anyOf('id', 'locationName'))
