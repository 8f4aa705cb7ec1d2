import { readFileSync, readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
import { parentPort, Worker } from 'node:worker_threads'

/** An error is told by its name. */
type Answer = { ok: true; value: unknown } | { ok: false; name: string; message: string; stack?: string }

/** A thread with more in its heap dies of it. 10 MiB of a document take half of that at worst. */
const resourceLimits = { maxOldGenerationSizeMb: 1024 }

/** From the file of that name beside a module. Resolves when it can work. */
export function startWorker(name: string, beside: string): Promise<Worker> {
  const worker = newWorker(name, beside)
  return new Promise((resolve, reject) => {
    const fail = (reason: string, cause?: unknown) => {
      clearTimeout(timer)
      reject(new Error(reason, { cause }))
    }
    const timer = setTimeout(() => {
      fail('The thread does not start.')
      void worker.terminate()
    }, 30_000)
    worker.once('error', (error) => fail('The thread cannot start.', error))
    worker.once('exit', () => fail('The thread ended at its start.'))
    worker.once('message', ({ osThread }: Ready) => {
      clearTimeout(timer)
      if (osThread !== undefined) osThreads.set(worker, osThread)
      // Everybody waits for the event loop, which would share the processors with its threads otherwise.
      setNiceness(osThread, niceness.usual)
      resolve(worker)
    })
  })
}

/** In the bundle or as a source. On Node 20, tsx has no part in a thread unless it is told there. */
function newWorker(name: string, beside: string): Worker {
  if (!beside.endsWith('.ts')) {
    return new Worker(new URL(`./${name}.js`, beside), { execArgv: [], resourceLimits })
  }
  const source = JSON.stringify(new URL(`./${name}.ts`, beside))
  const script = `import('tsx/esm/api').then((tsx) => (tsx.register(), import(${source})))`
  return new Worker(script, { eval: true, execArgv: ['--conditions=plenum-source'], resourceLimits })
}

/** The first message of a thread. */
interface Ready {
  /** Its number in the kernel, where threads have priorities and clocks of their own. */
  osThread: number | undefined
}

const osThreads = new WeakMap<Worker, number>()

/** The event loop has 0, programs that get only what is left have 19. */
const niceness = { usual: 5, slow: 15 }

/** From now on other threads go before this one. It cannot be undone. */
export function lowerPriority(worker: Worker): void {
  setNiceness(osThreads.get(worker), niceness.slow)
}

function setNiceness(osThread: number | undefined, value: number): void {
  try {
    if (osThread !== undefined) setPriority(osThread, value)
  } catch {
    // It has just ended, or the kernel does not allow it; then the work goes on as it is.
  }
}

/** How long it has worked since it started. Unknown where the kernel does not tell. */
export function processorMs(worker: Worker): number | undefined {
  const osThread = osThreads.get(worker)
  if (osThread === undefined) return undefined
  try {
    return parseInt(readFileSync(`/proc/self/task/${osThread}/schedstat`, 'latin1'), 10) / 1e6
  } catch {
    return undefined
  }
}

const osThreadOf = (): number | undefined =>
  process.platform === 'linux' ? Number(readlinkSync('/proc/thread-self').split('/').at(-1)) : undefined

/** In the thread: says that it can work, and answers each message with what comes of it. */
export function answerTasks<Task>(run: (task: Task) => unknown): void {
  const ready: Ready = { osThread: osThreadOf() }
  parentPort?.postMessage(ready)
  parentPort?.on('message', (task: Task) => {
    const answer = answerOf(() => run(task))
    parentPort?.postMessage(answer, answer.ok ? buffersIn(answer.value) : [])
  })
}

function answerOf(work: () => unknown): Answer {
  try {
    return { ok: true, value: work() }
  } catch (error) {
    const { name, message, stack } = error instanceof Error ? error : new Error(String(error))
    return { ok: false, name, message, stack }
  }
}

/** What can be handed over instead of copied: the value, or what lies directly in it. */
function buffersIn(value: unknown): ArrayBuffer[] {
  const inside = ArrayBuffer.isView(value) ? [value] : Object.values(value ?? {})
  return [...new Set(inside.filter(ArrayBuffer.isView).map(({ buffer }) => buffer as ArrayBuffer))]
}

type ErrorClass = new (message: string) => Error

/** Outside: the value of an answer, or the error again, of its own class if that is among the known ones. */
export function valueOf(answer: unknown, known: Readonly<Record<string, ErrorClass>>): unknown {
  const told = answer as Answer
  if (told.ok) return told.value
  const Known = Object.hasOwn(known, told.name) ? known[told.name] : undefined
  const error = Known ? new Known(told.message) : new Error(`${told.name}: ${told.message}`)
  throw Object.assign(error, { stack: told.stack })
}
