import Type from 'typebox'
import { described } from '../base/schemas.ts'
import { CommentLocation, NewLocation } from './places.ts'

/** A location and the one that replaces it (spec 11.1). */
export const LocationMigration = Type.Object({
  oldLocation: described(NewLocation, 'The location as it is now.'),
  newLocation: described(CommentLocation, 'The new location.'),
})
