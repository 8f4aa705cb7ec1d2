// Loaded into the server under attack (`node --import`). Reports for how long at most the event loop was busy in one
// piece, in processor time of the main thread, so that other programs on the machine do not count.
import { readFileSync } from 'node:fs'

const workedMs =
  process.platform === 'linux'
    ? () => Number(readFileSync('/proc/self/schedstat', 'latin1').split(' ', 1)[0]) / 1e6
    : () => performance.now()

let last = workedMs()
let longestMs = 0
const look = () => {
  const now = workedMs()
  longestMs = Math.max(longestMs, now - last)
  last = now
}
setInterval(look, 1).unref()

process.on('message', (message) => {
  if (message !== 'loop') return
  look()
  process.send?.({ longestMs })
  longestMs = 0
})
process.channel?.unref()
// Ends with the program that started it, which may be interrupted.
process.once('disconnect', () => process.exit())
