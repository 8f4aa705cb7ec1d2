import type { Tenant } from '../packages/server/test/support/given.ts'

/** What an attack is given: a server that runs in a process of its own, and a tenant of that server. */
export interface Scene {
  url: string
  database: 'sqlite' | 'postgres'
  attacker: Tenant
  /** `short` is for the tests: it must end within about ten seconds and still do the harm on an unprotected server. */
  size: 'short' | 'full'
}

/** Something that one tenant can do, inside all limits, that must not harm another tenant. */
export interface Attack {
  /** Says what the attacker does. */
  name: string
  /** The harm does not depend on the database, so the tests try it on one of the two. */
  readonly withoutDatabase?: true
  /** By how much the memory of the server may grow, where the attack is one on memory. */
  maxMegabytes?: number
  /** Builds what the attack needs, unmeasured. The function it returns is the attack; it ends by itself. */
  prepare(scene: Scene): Promise<() => Promise<void>>
}

/** What the server promises about every attack (docs/spec.md S1 and S2). */
export const promised = { delayMs: 250, loopMs: 50 }
