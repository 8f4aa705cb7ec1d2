import Type from 'typebox'
import { flag, mapOf, text } from '../base/schemas.ts'

/** The fields that the outcomes of all operations share. One item can fail while the batch succeeds (spec 0.4). */
export const outcome = {
  success: flag('Whether the operation succeeded for this item.'),
  message: text('What happened to this item.'),
}

/** The result of one item of a batch. */
export const Outcome = Type.Object({
  success: outcome.success,
  id: Type.Optional(text('Id of the item on the server.')),
  message: outcome.message,
  code: Type.Optional(
    text('Machine-readable reason of the failure: `not-found`, `already-exists` or `internal`.'),
  ),
})
export type Outcome = Type.Static<typeof Outcome>

/** Outcomes by the id that the caller sent. */
export const Outcomes = mapOf(Outcome)
export type Outcomes = Record<string, Outcome>

/** The answer of operations that succeed or fail as a whole. */
export const Success = Type.Object({ success: flag('Always `true`: a failure is answered as an error.') })

/** The answer of operations that return no data. */
export const NoData = Type.Null()

/** The input of operations without fields. */
export const NoInput = Type.Object({})
