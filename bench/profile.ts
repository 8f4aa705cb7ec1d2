/**
 * Summarizes CPU profiles: the functions with the largest self time, by thread.
 *   node --import tsx bench/profile.ts FOLDER [lines]
 */
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

interface Profile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[]
  samples: number[]
  timeDeltas: number[]
}

const [folder = '.', lines = '30'] = process.argv.slice(2)
for (const file of readdirSync(folder).filter((name) => name.endsWith('.cpuprofile'))) {
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Profile
  const nameOf = new Map(
    nodes.map(({ id, callFrame: { functionName, url, lineNumber } }) => [
      id,
      `${functionName || '(anonymous)'} ${url && `${shorten(url)}:${lineNumber + 1}`}`,
    ]),
  )
  const microseconds = new Map<string, number>()
  for (const [index, id] of samples.entries()) {
    const name = nameOf.get(id) ?? ''
    microseconds.set(name, (microseconds.get(name) ?? 0) + (timeDeltas[index] ?? 0))
  }
  microseconds.delete('(idle) ')
  const busyMicroseconds = [...microseconds.values()].reduce((sum, one) => sum + one, 0)
  console.log(`\n${file}: busy for ${(busyMicroseconds / 1e6).toFixed(2)} s`)
  const largest = [...microseconds].sort(([, a], [, b]) => b - a).slice(0, Number(lines))
  for (const [name, own] of largest)
    console.log(`${((100 * own) / busyMicroseconds).toFixed(1).padStart(6)} %  ${name}`)
}

/** Returns the end of a path, which is enough to find the file. */
function shorten(url: string): string {
  const parts = url.split('/')
  const modules = parts.lastIndexOf('node_modules')
  return modules < 0 ? basename(url) : parts.slice(modules + 1).join('/')
}
