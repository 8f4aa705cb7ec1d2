import type { Attack } from '../attack.ts'
import { connectionBursts } from './connection-bursts.ts'
import { costlyBodies } from './costly-bodies.ts'
import { creationByOpening } from './creation-by-opening.ts'
import { deleteFlood } from './delete-flood.ts'
import { hiddenRows } from './hidden-rows.ts'
import { largeDeletion } from './large-deletion.ts'
import { largeLists } from './large-lists.ts'
import { largeThreads } from './large-threads.ts'
import { largeWrites } from './large-writes.ts'
import { awarenessOfManyViewers } from './awareness-flood.ts'
import { liveStateMerges } from './live-state-merges.ts'
import { nothing } from './nothing.ts'
import { metricsOnManyConnections, pipelinedRequests } from './pipelined-requests.ts'
import { presenceOfManyViewers, presenceUnderManyRefs } from './presence-flood.ts'
import { slowDocumentReads } from './slow-document-reads.ts'
import { slowDocumentSockets } from './slow-document-sockets.ts'
import { slowDocumentWrites } from './slow-document-writes.ts'
import { slowReaders } from './slow-readers.ts'
import { threadReads, threadReadsOnSockets } from './thread-reads.ts'

/** All attacks. The first entry is the baseline without an attack. */
export const attacks: readonly Attack[] = [
  nothing,
  costlyBodies,
  slowDocumentWrites,
  slowDocumentReads,
  slowDocumentSockets,
  deleteFlood,
  largeWrites,
  largeLists,
  largeDeletion,
  creationByOpening,
  slowReaders,
  presenceUnderManyRefs,
  presenceOfManyViewers,
  awarenessOfManyViewers,
  pipelinedRequests,
  metricsOnManyConnections,
  connectionBursts,
  liveStateMerges,
  threadReads,
  threadReadsOnSockets,
  hiddenRows,
  largeThreads,
]
