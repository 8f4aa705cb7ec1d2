import Type from 'typebox'
import { mapOf } from '../base/fields.ts'

/** What became of one item of a batch; the batch itself is a success (spec 0.4). */
export const Outcome = Type.Object({
  success: Type.Boolean(),
  id: Type.Optional(Type.String()),
  message: Type.String(),
  code: Type.Optional(Type.String()),
})
export type Outcome = Type.Static<typeof Outcome>

/** Outcomes by the id that the caller sent. */
export const Outcomes = mapOf(Outcome)
export type Outcomes = Record<string, Outcome>

/** The only answer of operations that either do it all or fail. */
export const Done = Type.Object({ success: Type.Boolean() })

export const Nothing = Type.Null()
