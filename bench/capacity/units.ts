/** What servers spend their time on. The cost of each is measured; the model counts how often each happens. */
export const units = {
  server: 'a server, for a second',
  connection: 'an open connection, for a second',
  openDocument: 'a document that a server has open, for a second',
  sharedDocument: 'a document that another server has open too, for a second',
  commit: 'a transaction with updates',
  update: 'an update: received, stored, acknowledged',
  delivery: 'an update: sent to another client of the server',
  cursor: 'a cursor: received',
  cursorDelivery: 'a cursor: sent to another client of the server',
  opening: 'opening and closing a document',
  read: 'a request that reads',
  write: 'a request that writes',
  updateForwarded: 'an update: received from another server',
  cursorForwarded: 'a cursor: received from another server',
  messageSent: 'a message to the other servers',
  messageHeard: 'the same message, at each server that gets it',
  messageSkipped: 'the same message, at each server that does not get it',
  entryHeard: 'an update or cursor in it, at each server that gets it',
} as const

export type Unit = keyof typeof units
export const unitNames = Object.keys(units) as Unit[]

/** How often each happens. */
export type Work = Partial<Record<Unit, number>>

/** CPU time in microseconds, of all servers together, of PostgreSQL and of Redis, and the bytes that PostgreSQL logs. */
export interface Cost {
  servers: number
  postgres: number
  redis: number
  walBytes: number
}
export const resources = ['servers', 'postgres', 'redis', 'walBytes'] as const satisfies (keyof Cost)[]

export type Costs = Record<Unit, Cost>

/** What the work costs. Units without a cost are free. */
export function costOf(work: Work, costs: Partial<Costs>): Cost {
  const total: Cost = { servers: 0, postgres: 0, redis: 0, walBytes: 0 }
  for (const unit of unitNames) {
    for (const resource of resources) total[resource] += (work[unit] ?? 0) * (costs[unit]?.[resource] ?? 0)
  }
  return total
}
