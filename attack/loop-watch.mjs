// Runs inside the server under attack (`node --import`). Reports the longest time that the event loop was held, in
// processor time of the main thread, so that other programs on the machine add nothing.
import { readFileSync } from 'node:fs'

const workedMs =
  process.platform === 'linux'
    ? () => Number(readFileSync('/proc/self/schedstat', 'latin1').split(' ', 1)[0]) / 1e6
    : () => performance.now()

let last = workedMs()
let longestMs = 0
const sample = () => {
  const now = workedMs()
  longestMs = Math.max(longestMs, now - last)
  last = now
}
setInterval(sample, 1).unref()

process.on('message', (message) => {
  if (message !== 'loop') return
  sample()
  process.send?.({ longestMs })
  longestMs = 0
})
process.channel?.unref()
// The parent process may be interrupted. Then this process exits too.
process.once('disconnect', () => process.exit())
