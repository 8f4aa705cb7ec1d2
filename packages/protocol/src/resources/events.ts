import Type from 'typebox'
import { NamedUser } from './users.ts'
import { described, flag, jsonObject, text } from '../base/schemas.ts'

/** A change that happened, as the event log has it. */
export const Event = Type.Object({
  id: text(
    'Id of the event. It never changes, so it can be used to detect repetitions. It says nothing about the order.',
  ),
  name: text('What happened, such as `comment.add`.'),
  number: Type.Integer({
    description: 'A number made from the id. It says nothing about the order, and does not count events.',
  }),
  organizationId: Type.Optional(text('Id of the organization.')),
  documentId: Type.Optional(text('Id of the document.')),
  annotationId: Type.Optional(text('Id of the annotation that the event is about.')),
  actor: Type.Optional(described(NamedUser, 'The user who caused the event.')),
  payload: jsonObject('What changed, depending on the name of the event.'),
  timestamp: Type.Integer({ description: 'When it happened, as Unix time in milliseconds.' }),
})
export type Event = Type.Static<typeof Event>

export const EventBatch = Type.Object({
  events: Type.Array(Event, { description: 'The events, in order.' }),
  after: text('Send it as `after` to continue.'),
  hasMore: flag('Whether there may be more events already.'),
})
export type EventBatch = Type.Static<typeof EventBatch>
