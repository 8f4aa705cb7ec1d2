import type { Tenant } from '../packages/server/test/support/given.ts'

/** What an attack gets: a server in a process of its own, and a tenant of that server. */
export interface Scene {
  url: string
  database: 'sqlite' | 'postgres'
  attacker: Tenant
  /** `short` is for the tests: it must end within about three seconds and still harm an unprotected server. */
  size: 'short' | 'full'
}

/** Something that one tenant can do within all limits, and that must not harm another tenant. */
export interface Attack {
  /** Describes what the attacker does. */
  name: string
  /** The harm does not depend on the database, so the tests run the attack on SQLite only. */
  readonly withoutDatabase?: true
  /** How much the server's memory may grow. Set for attacks on memory. */
  maxMegabytes?: number
  /** The heap of the server. Default: Node's own limit. */
  heapMegabytes?: number
  /** Sets the attack up, unmeasured. Returns a function that runs the attack, which ends by itself. */
  prepare(scene: Scene): Promise<() => Promise<void>>
}

/** What the server promises about every attack (docs/spec.md S1 and S2). */
export const promised = { delayMs: 250, loopMs: 50 }
