export interface Sample {
  labels?: Record<string, string>
  value: number
}

/** Numbers of this server: what is open now, and what was counted since its start. */
export interface LiveNumbers {
  connections: readonly Sample[]
  closes: readonly Sample[]
  documents: number
  editors: number
  waitingEditors: number
  healed: number
  updates: number
  updateBytes: number
  updateTransactions: number
  refusedUpdates: Readonly<Record<string, number>>
}

/** A metric that is computed from numbers when the metrics are rendered. */
export interface ReadMetric<Numbers> {
  type: 'counter' | 'gauge'
  name: string
  help: string
  labelNames?: string[]
  read: (numbers: Numbers) => readonly Sample[]
}

export const one = (value: number): Sample[] => [{ value }]

export const liveMetrics: readonly ReadMetric<LiveNumbers>[] = [
  {
    type: 'gauge',
    name: 'plenum_websocket_connections',
    help: 'Open WebSockets, by dialect.',
    labelNames: ['dialect'],
    read: ({ connections }) => connections,
  },
  {
    type: 'counter',
    name: 'plenum_websocket_closes_total',
    help: 'WebSockets that were closed, by dialect and close code. "other" stands for codes that clients invent.',
    labelNames: ['dialect', 'code'],
    read: ({ closes }) => closes,
  },
  {
    type: 'gauge',
    name: 'plenum_open_documents',
    help: 'Documents that are open on a WebSocket.',
    read: ({ documents }) => one(documents),
  },
  {
    type: 'gauge',
    name: 'plenum_open_editors',
    help: 'Editors that are held in memory.',
    read: ({ editors }) => one(editors),
  },
  {
    type: 'gauge',
    name: 'plenum_editors_waiting',
    help: 'Editors with updates that wait to be stored.',
    read: ({ waitingEditors }) => one(waitingEditors),
  },
  {
    type: 'counter',
    name: 'plenum_gaps_healed_total',
    help: 'Open editors and documents with changes that no message of another server had announced.',
    read: ({ healed }) => one(healed),
  },
  {
    type: 'counter',
    name: 'plenum_editor_updates_total',
    help: 'Stored updates of editors, counted as clients sent them.',
    read: ({ updates }) => one(updates),
  },
  {
    type: 'counter',
    name: 'plenum_editor_update_bytes_total',
    help: 'Bytes of stored updates of editors, as stored in the database.',
    read: ({ updateBytes }) => one(updateBytes),
  },
  {
    type: 'counter',
    name: 'plenum_editor_update_transactions_total',
    help: 'Transactions that stored updates of editors.',
    read: ({ updateTransactions }) => one(updateTransactions),
  },
  {
    type: 'counter',
    name: 'plenum_editor_updates_refused_total',
    help: 'Updates of editors that were refused, by reason.',
    labelNames: ['reason'],
    read: ({ refusedUpdates }) =>
      Object.entries(refusedUpdates).map(([reason, value]) => ({ labels: { reason }, value })),
  },
]
