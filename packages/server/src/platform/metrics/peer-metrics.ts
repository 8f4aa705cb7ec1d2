import { one, type ReadMetric } from './live-metrics.ts'

/** Messages between this server and the others since its start, and the state of the link to them. */
export interface PeerNumbers {
  /** Other servers that were heard lately. */
  servers: number
  sentMessages: number
  sentBytes: number
  receivedMessages: number
  receivedBytes: number
  droppedMessages: number
  isConnected: boolean
  delayMs: number | undefined
}

const both = (sent: number, received: number) => [
  { labels: { direction: 'sent' }, value: sent },
  { labels: { direction: 'received' }, value: received },
]

export const peerMetrics: readonly ReadMetric<PeerNumbers>[] = [
  {
    type: 'gauge',
    name: 'plenum_peers',
    help: 'Other servers on the same database that were heard within the last 30 s.',
    read: ({ servers }) => one(servers),
  },
  {
    type: 'gauge',
    name: 'plenum_peer_link_connected',
    help: 'Whether this server exchanges messages with the others (1) or polls the database (0).',
    read: ({ isConnected }) => one(isConnected ? 1 : 0),
  },
  {
    type: 'gauge',
    name: 'plenum_peer_link_lag_seconds',
    help: 'How long a message to the other servers took to come back to this one. Measured every 10 s.',
    read: ({ delayMs }) => (delayMs === undefined ? [] : one(delayMs / 1000)),
  },
  {
    type: 'counter',
    name: 'plenum_peer_messages_total',
    help: 'Messages between this server and the others.',
    labelNames: ['direction'],
    read: ({ sentMessages, receivedMessages }) => both(sentMessages, receivedMessages),
  },
  {
    type: 'counter',
    name: 'plenum_peer_bytes_total',
    help: 'Bytes of the messages between this server and the others.',
    labelNames: ['direction'],
    read: ({ sentBytes, receivedBytes }) => both(sentBytes, receivedBytes),
  },
  {
    type: 'counter',
    name: 'plenum_peer_messages_dropped_total',
    help: 'Messages to other servers that were not sent, because the link was not connected or too many waited.',
    read: ({ droppedMessages }) => one(droppedMessages),
  },
]
