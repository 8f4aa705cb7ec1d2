import { ApiError, type Operation } from '@plenum/protocol'
import { Compile } from 'typebox/compile'
import { explain } from './explain.ts'

/** Creates a validator for the input of an operation. It is compiled on first use, because most servers use few operations. */
export function createValidator(operation: Pick<Operation, 'input'>): (input: unknown) => void {
  let check: ((input: unknown) => boolean) | undefined
  return (input) => {
    if (!check) {
      const compiled = Compile(operation.input)
      check = (value) => compiled.Check(value)
    }
    if (check(input)) return
    throw new ApiError('INVALID_ARGUMENT', explain(operation.input, input) ?? 'Invalid request.')
  }
}
