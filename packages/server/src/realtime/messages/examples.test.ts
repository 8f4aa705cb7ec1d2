import {
  type ClientMessageDeclaration,
  clientMessages,
  type MessageDeclaration,
  serverMessages,
} from '@plenum/protocol/messages'
import { expect, test } from 'vitest'
import { createValidator } from '../../platform/validation/validator.ts'

const sent = Object.entries<ClientMessageDeclaration>(clientMessages)
const received = Object.entries<MessageDeclaration>(serverMessages)
const examples = [
  ...[...sent, ...received].map(([type, { fields, example }]) => ({ type, fields, example })),
  ...sent.flatMap(([type, { done }]) => (done ? [{ type: `done of ${type}`, ...done }] : [])),
]

test.each(examples)('[R10.8] the example of $type fits its schema', ({ fields, example }) => {
  expect(createValidator({ ...fields, additionalProperties: false })(example)).toBeUndefined()
})
