import Type from 'typebox'
import { EditorId } from '../base/ids.ts'
import { maxIdLength } from '../base/limits.ts'
import { described, flag, text } from '../base/schemas.ts'
import { ContentKey } from './crdt.ts'

/** Quotes and texts of ranges are cut to this length. */
export const maxQuoteCharacters = 1_000

const count = (description: string) =>
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description })

/** Names an item of a Yjs document. */
export const YjsId = Type.Object(
  { client: count('The Yjs client id.'), clock: count('The clock.') },
  { additionalProperties: false },
)

// `JSON.stringify` of a relative position writes null for what it does not have.
const orNull = (description: string) => Type.Optional(Type.Union([YjsId, Type.Null()], { description }))

/** A position in a Yjs document that moves with the content, as `Y.relativePositionToJSON` writes it. */
export const YjsPosition = Type.Object(
  {
    item: orNull('Id of the character or node that the position is attached to.'),
    type: orNull('Id of the shared type that has the position, if it is not a root.'),
    tname: Type.Optional(
      Type.Union([Type.String({ minLength: 1, maxLength: maxIdLength }), Type.Null()], {
        description: 'Name of the root that has the position.',
      }),
    ),
    assoc: Type.Optional(
      Type.Union(
        [Type.Integer({ minimum: -Number.MAX_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }), Type.Null()],
        {
          description: 'The side that the position is attached to: the left one if negative.',
        },
      ),
    ),
  },
  { additionalProperties: false },
)
export type YjsPosition = Type.Static<typeof YjsPosition>

const sentPosition = (description: string) =>
  Type.Union(
    [
      count('Offset in the text of the root, as in a JavaScript string. Only for roots of type `text`.'),
      YjsPosition,
    ],
    { description: `${description} A Yjs relative position, or an offset in the text.` },
  )

/** A range of an editor that an annotation is about (spec 19.8). */
export const EditorRange = Type.Object({
  editorId: EditorId,
  contentKey: Type.Optional(
    described(ContentKey, 'Name of the root that has the range. Default: the root of the content.'),
  ),
  anchor: sentPosition('Where the selection began.'),
  head: sentPosition('Where the selection ended. It may be before `anchor`.'),
  quote: Type.Optional(
    Type.String({
      maxLength: maxQuoteCharacters,
      description: 'The text of the range. Default: the text that the range has now.',
    }),
  ),
})
export type EditorRange = Type.Static<typeof EditorRange>

/** The range in an answer, with the place and the text that it has now. */
export const LocatedRange = Type.Object({
  editorId: text('Id of the editor.'),
  contentKey: text('Name of the root that has the range.'),
  anchor: described(YjsPosition, 'Where the selection began.'),
  head: described(YjsPosition, 'Where the selection ended.'),
  quote: text('The text that the range had when it was set.'),
  resolved: flag(
    'False: the editor could not be read in time. The fields below are missing. Try again later.',
  ),
  orphaned: Type.Optional(flag('True: the text of the range does not exist any more.')),
  start: Type.Optional(
    Type.Integer({
      description: 'Offset of the start in the shared type that has it. Missing if it has no place.',
    }),
  ),
  end: Type.Optional(
    Type.Integer({
      description: 'Offset of the end in the shared type that has it. Missing if it has no place.',
    }),
  ),
  text: Type.Optional(text(`The text of the range now, cut to ${maxQuoteCharacters} characters.`)),
})
export type LocatedRange = Type.Static<typeof LocatedRange>
