import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** Bytes of all buffers that are still referenced. */
export function bufferBytes(): number {
  collectGarbage()
  return process.memoryUsage().arrayBuffers
}
