import { mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Config } from '../../config.ts'
import { prepareDataDir } from '../../start/data-dir.ts'
import { type Finding, failed, ok, warning } from './check.ts'

const mebibyte = 1024 * 1024
const minFreeBytes = 100 * mebibyte
const lowFreeBytes = 1024 * mebibyte
/** A server on a slower disk answers fewer than 50 writes a second that come one after the other. */
const slowSyncMs = 20
const syncs = 20
/** The type of tmpfs, a file system in memory. */
const tmpfs = 0x01021994

/** The disk of the data folder. PostgreSQL has its own disk, which cannot be checked from here. */
export async function checkDisk(config: Config): Promise<Finding[]> {
  if (config.databaseUrl !== undefined) return []
  const folder = resolve(config.dataDir)
  try {
    prepareDataDir(folder)
    return [freeSpace(folder), await syncTime(folder, config)]
  } catch (error) {
    return [failed('disk', (error as Error).message, 'Choose another DATA_DIR, or repair the disk.')]
  }
}

function freeSpace(folder: string): Finding {
  const { bavail, bsize, type } = statfsSync(folder)
  const free = bavail * bsize
  const message = `${Math.floor(free / mebibyte)} MiB are free in ${folder}`
  const advice = 'Free some space: when the disk is full, writes are refused.'
  if (free < minFreeBytes) return failed('disk', message, advice)
  if (type === tmpfs) return warning('disk', `${folder} is in memory`, 'Choose a DATA_DIR on a disk.')
  return free < lowFreeBytes ? warning('disk', message, advice) : ok('disk', message)
}

/** Measures how long a write waits for the disk, with the same call as the server. */
async function syncTime(folder: string, { durability }: Config): Promise<Finding> {
  const place = mkdtempSync(join(folder, '.sync-test-'))
  try {
    const file = await open(join(place, 'file'), 'w')
    const times: number[] = []
    for (let n = 0; n < syncs; n++) {
      await file.write(Buffer.alloc(4096, n))
      const began = performance.now()
      await file.datasync()
      times.push(performance.now() - began)
    }
    await file.close()
    const median = times.sort((a, b) => a - b)[syncs / 2] ?? 0
    const message = `a sync takes ${median.toFixed(1)} ms`
    if (median < slowSyncMs || durability === 'relaxed') return ok('disk', message)
    return warning('disk', message, 'Every write waits for it. Use a faster disk, such as an SSD.')
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
}
