import type { Fault } from '../fault.ts'
import { databasePartition } from './database-partition.ts'
import { frozenServer } from './frozen-server.ts'
import { fullDisk } from './full-disk.ts'
import { halfOpenConnection } from './half-open-connection.ts'
import { killedCompaction } from './killed-compaction.ts'
import { killedPostgres } from './killed-postgres.ts'
import { killedRedis } from './killed-redis.ts'
import { killedServer } from './killed-server.ts'
import { killedServerOnSqlite } from './killed-server-on-sqlite.ts'
import { leftAndJoined } from './left-and-joined.ts'
import { openedAtOnce } from './opened-at-once.ts'
import { outOfMemory } from './out-of-memory.ts'
import { redisPartition } from './redis-partition.ts'
import { slowReader } from './slow-reader.ts'
import { stoppedServer } from './stopped-server.ts'

export const faults: readonly Fault[] = [
  killedServerOnSqlite,
  killedServer,
  killedPostgres,
  killedRedis,
  redisPartition,
  databasePartition,
  frozenServer,
  killedCompaction,
  fullDisk,
  slowReader,
  halfOpenConnection,
  stoppedServer,
  outOfMemory,
  openedAtOnce,
  leftAndJoined,
]
