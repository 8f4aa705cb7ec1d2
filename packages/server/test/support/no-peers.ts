import { Peers } from '../../src/peers/peers.ts'
import { SharedLists } from '../../src/peers/shared-lists.ts'
import { systemClock } from '../../src/platform/clock.ts'

const log = { debug() {}, info() {}, warn() {}, error() {} }

/** The lists of a server that has no other servers. */
export const noSharedLists = (): SharedLists =>
  new SharedLists({ peers: new Peers({ link: undefined, log }), clock: systemClock, log })
