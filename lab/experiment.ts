import { createRandom } from '../packages/server/test/support/random/random.ts'
import { Cluster, type LabServices, type Link } from './cluster.ts'
import type { Fault, Result } from './fault.ts'
import { WriterProcess } from './writer-process.ts'

export interface ExperimentOptions {
  services: LabServices
  fault: Fault
  link: Link
  /** Whether to run the control of the fault. */
  isControl?: boolean
  seed: number
  /** About how many writes a trial acknowledges. */
  writes: number
  /** Whether no trial may take a minute. */
  isShort?: boolean
}

/** Slow machines and clients that wait before they connect again need more than is promised. */
const limitMs = 20_000
/** More than is promised, and no more: controls do not get there. */
const controlLimitMs = 6_000

/** A cluster and writers, for trials of one fault with one link. */
export class Experiment {
  readonly #options: ExperimentOptions
  readonly #cluster: Cluster
  readonly #writers = new WriterProcess()

  static async start(options: ExperimentOptions): Promise<Experiment> {
    const { services, fault, link, isControl } = options
    const broken = isControl ? fault.control.cluster : undefined
    const env = { ...fault.cluster?.env, ...broken?.env }
    const cluster = await Cluster.start(services, { ...fault.cluster, ...broken, env, link })
    return new Experiment(options, cluster)
  }

  private constructor(options: ExperimentOptions, cluster: Cluster) {
    this.#options = options
    this.#cluster = cluster
  }

  /**
   * Runs the trial with this number. Equal seeds and numbers make equal decisions. Faults that need no other cluster can share
   * one.
   */
  run(trial: number, fault = this.#options.fault): Promise<Result> {
    const { isControl, seed, writes, isShort = false } = this.#options
    const run = (isControl && fault.control.run) || fault.run
    return run.call(fault, {
      cluster: this.#cluster,
      writers: this.#writers,
      random: createRandom(seed + trial * 7919),
      name: `${fault.id}-${trial}`,
      writes,
      isShort,
      limitMs: isControl ? controlLimitMs : limitMs,
      job: { ...fault.job, ...(isControl && fault.control.job) },
    })
  }

  async stop(): Promise<void> {
    this.#writers.close()
    await this.#cluster.stop()
  }
}
