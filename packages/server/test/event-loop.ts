import { readFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** How long this thread has worked, in milliseconds. Where the kernel tells, what others on the machine do is no part of it. */
function workedMs(): number {
  if (process.platform !== 'linux') return performance.now()
  return Number(readFileSync('/proc/self/schedstat', 'latin1').split(' ', 1)[0]) / 1e6
}

/** For how long at most, in milliseconds, the event loop of this process was held while it ran. */
export async function heldDuring(run: () => Promise<unknown>): Promise<number> {
  // What tests before left behind is not to be collected meanwhile: that takes 30 to 70 ms.
  collectGarbage()
  let last = workedMs()
  let longest = 0
  const look = () => {
    const now = workedMs()
    longest = Math.max(longest, now - last)
    last = now
  }
  const timer = setInterval(look, 1)
  await run()
  look()
  clearInterval(timer)
  return longest
}

/** The least of several attempts: what runs for the first time is slow. */
export async function leastHeld(
  run: () => Promise<unknown>,
  before: () => Promise<unknown> = async () => {},
): Promise<number> {
  let least = Infinity
  for (let attempt = 0; attempt < 3 && least >= 25; attempt++) {
    await before()
    least = Math.min(least, await heldDuring(run))
  }
  return least
}
