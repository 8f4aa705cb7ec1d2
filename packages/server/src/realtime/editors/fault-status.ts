import type { ErrorStatus } from '@plenum/protocol'
import type { Fault } from '../../crdt/updates/fault.ts'

const statuses: Partial<Record<Fault['code'], ErrorStatus>> = {
  read_only: 'PERMISSION_DENIED',
  foreign_client: 'PERMISSION_DENIED',
  taken_client: 'ALREADY_EXISTS',
  full: 'RESOURCE_EXHAUSTED',
  too_many_ids: 'RESOURCE_EXHAUSTED',
}

/** The error status for a refused update, as a REST operation would report it. */
export const statusOfFault = ({ code }: Fault, otherwise: ErrorStatus = 'FAILED_PRECONDITION'): ErrorStatus =>
  statuses[code] ?? otherwise
