import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
/** Below the server, so that imports of dependencies are resolved as in the sources. */
const cache = `${root}packages/server/node_modules/.cache`
const keptMs = 24 * 60 * 60 * 1000
/** Another process builds for at most this time. */
const maxBuildMs = 60_000

/** Hashes files, and the files below folders that `isSource` accepts. Paths are relative to the repository. */
export function hashOfSources(files, folders, isSource) {
  const hash = createHash('sha256')
  for (const file of files) hash.update(readFileSync(root + file))
  for (const folder of folders) {
    for (const file of readdirSync(root + folder, { recursive: true, encoding: 'utf8' }).sort())
      if (isSource(file)) hash.update(`${folder}/${file}\n`).update(readFileSync(join(root, folder, file)))
  }
  return hash.digest('hex').slice(0, 16)
}

/**
 * Returns a folder that `build` has filled from the sources with this hash. Processes and later runs share the folder. A
 * folder that was not used for a day is removed.
 */
export async function buildOnce(name, hash, build) {
  const parent = join(cache, name)
  const folder = join(parent, hash)
  mkdirSync(parent, { recursive: true })
  while (!existsSync(folder) && isBuilding(parent, hash)) await pause(50)
  if (!existsSync(folder)) {
    removeOld(parent)
    const temporary = `${folder}-${process.pid}`
    rmSync(temporary, { recursive: true, force: true })
    mkdirSync(temporary)
    try {
      await build(temporary)
      renameSync(temporary, folder)
    } catch (error) {
      rmSync(temporary, { recursive: true, force: true })
      // Another process may have been faster.
      if (!existsSync(folder)) throw error
    }
  }
  const now = new Date()
  utimesSync(folder, now, now)
  return folder
}

/** Whether another process builds from the same sources. */
function isBuilding(parent, hash) {
  return readdirSync(parent).some((name) => {
    const [built, pid] = name.split('-')
    const isOther = built === hash && pid !== undefined && Number(pid) !== process.pid
    return isOther && isRunning(Number(pid)) && ageMs(join(parent, name)) < maxBuildMs
  })
}

function isRunning(pid) {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Infinity if the folder does not exist any more. */
const ageMs = (path) => Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? -Infinity)

function removeOld(parent) {
  for (const name of readdirSync(parent)) {
    const path = join(parent, name)
    if (ageMs(path) > keptMs) rmSync(path, { recursive: true, force: true })
  }
}
