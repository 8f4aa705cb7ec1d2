import { readFileSync, readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
import { parentPort, Worker } from 'node:worker_threads'

/**
 * The result of a task, as the thread sends it. An error is sent with its name, so that the receiver can build one of the
 * same class.
 */
type Answer = { ok: true; value: unknown } | { ok: false; name: string; message: string; stack?: string }

/** A thread whose heap becomes larger is ended. 32 MiB of insertions of one character each need 1.1 GiB. */
const resourceLimits = { maxOldGenerationSizeMb: 1536 }

const startTimeoutMs = 30_000

/** Starts a worker from the file `name` beside the module `beside`. Resolves when it is ready for tasks. */
export function startWorker(name: string, beside: string): Promise<Worker> {
  const worker = newWorker(name, beside)
  return new Promise((resolve, reject) => {
    const fail = (reason: string, cause?: unknown) => {
      clearTimeout(timer)
      reject(new Error(reason, { cause }))
    }
    const timer = setTimeout(() => {
      fail(`The thread did not start within ${startTimeoutMs / 1000} s.`)
      void worker.terminate()
    }, startTimeoutMs)
    worker.once('error', (error) => fail('The thread could not start.', error))
    worker.once('exit', () => fail('The thread ended while it started.'))
    worker.once('message', ({ osThread }: Ready) => {
      clearTimeout(timer)
      if (osThread !== undefined) osThreads.set(worker, osThread)
      // All clients wait for the event loop, so its thread has a higher priority than the workers.
      setNiceness(osThread, niceness.usual)
      resolve(worker)
    })
  })
}

/** Runs the worker from the bundle or from the source. On Node 20, tsx must be registered in the thread itself. */
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
  /** The id of the thread in the kernel, which gives each thread its own priority and clock. Undefined: not on Linux. */
  osThread: number | undefined
}

const osThreads = new WeakMap<Worker, number>()

/** Nice values of threads. The event loop has 0. A thread with 19 gets only idle processor time. */
const niceness = { usual: 5, slow: 15 }

/** Lowers the priority of the thread for the rest of its life. */
export function lowerPriority(worker: Worker): void {
  setNiceness(osThreads.get(worker), niceness.slow)
}

function setNiceness(osThread: number | undefined, value: number): void {
  try {
    if (osThread !== undefined) setPriority(osThread, value)
  } catch {
    // The thread has just ended, or the kernel does not allow the change. The thread keeps its priority.
  }
}

/** The processor time that the worker has used since its start. Undefined: the kernel does not report it. */
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

/** Call it in the thread. Reports that the thread is ready, and answers each task with its result. */
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

/**
 * The buffers of a value that can be transferred instead of copied: that of the value itself, or those of its direct
 * members.
 */
function buffersIn(value: unknown): ArrayBuffer[] {
  const members = ArrayBuffer.isView(value) ? [value] : Object.values(value ?? {})
  return [...new Set(members.filter(ArrayBuffer.isView).map(({ buffer }) => buffer as ArrayBuffer))]
}

type ErrorClass = new (message: string) => Error

/**
 * Call it outside the thread. Returns the value of an answer, or throws its error. The error has its class if `known`
 * contains that.
 */
export function resultOf(answer: unknown, known: Readonly<Record<string, ErrorClass>>): unknown {
  const result = answer as Answer
  if (result.ok) return result.value
  const Known = Object.hasOwn(known, result.name) ? known[result.name] : undefined
  const error = Known ? new Known(result.message) : new Error(`${result.name}: ${result.message}`)
  throw Object.assign(error, { stack: result.stack })
}
