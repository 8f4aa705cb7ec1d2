import { ApiError } from '@plenum/protocol'

/** The error for a call that names something which does not exist. `what`: `Folder`, for example. */
export const doesNotExist = (what: string) => new ApiError('INVALID_ARGUMENT', `${what} does not exist.`)
