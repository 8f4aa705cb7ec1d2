import { createServerBus } from '../../../src/bus.ts'
import { Peers } from '../../../src/peers/peers.ts'
import { SharedLists } from '../../../src/peers/shared-lists.ts'
import { Signals } from '../../../src/peers/signals.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { createLog } from '../../../src/platform/log/log.ts'
import type { Database } from '../../../src/store/engine/db.ts'

const log = createLog('silent', { write: () => {} })

/** For parts of a server that has no peers. */
export const noPeers = (): Peers => new Peers({ link: undefined, log })

/** Tells only the sessions of this server. */
export const ownSignals = (database: Database): Signals =>
  new Signals({ database, bus: createServerBus(log), peers: noPeers(), log, onMissed() {} })

/** The lists of a server that has no peers. */
export const noSharedLists = (): SharedLists => new SharedLists({ peers: noPeers(), clock: systemClock, log })
