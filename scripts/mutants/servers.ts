import type { Mutant } from './mutant.ts'

/** Several servers on one database, and work that survives a restart. */
export const serverMutants: readonly Mutant[] = [
  {
    name: 'a server publishes no signals of other servers',
    rule: 'B3',
    file: 'packages/server/src/peers/signals.ts',
    from: '!this.#publishedIds.delete(signalId)',
    to: 'this.#publishedIds.delete(signalId)',
    test: 'packages/server/src/peers/signals.test.ts',
    title:
      'a server that got no answer to its commit gets its own signal when it reads, and no other signal of its own',
  },
  {
    name: 'a server counts the calls of other servers towards no limit',
    rule: 'B5',
    file: 'packages/server/src/peers/shared-rate-limit.ts',
    from: 'unsent.set(hashed, (unsent.get(hashed) ?? 0) + 1)',
    to: 'unsent.set(hashed, unsent.get(hashed) ?? 0)',
    test: 'packages/server/test/peers/rate-limits.test.ts',
    title: 'the calls of a workspace and of an API key on all servers count towards one limit',
  },
  {
    name: 'the items of a server that has closed a list stay in the lists of the others',
    rule: 'B4.7',
    file: 'packages/server/src/peers/shared-list.ts',
    from: "if (this.isShared) this.#send({ kind: 'closed' })",
    to: '',
    test: 'packages/server/src/peers/shared-list.test.ts',
    title:
      'a server has the items of all servers that have the list open, and sends nothing if there is no other',
  },
  {
    name: 'a server that was stopped ends the job that another server has taken over',
    rule: 'S9.2',
    file: 'packages/server/src/store/jobs.ts',
    from: ".where('job_id', '=', jobId).where('claims', '=', claim)",
    to: ".where('job_id', '=', jobId)",
    test: 'packages/server/src/jobs/claims.test.ts',
    title: 'a server that was stopped for longer than its lease cannot end or postpone the job',
  },
  {
    name: 'a failing job is tried again at once',
    rule: '10.9',
    file: 'packages/server/src/jobs/runner.ts',
    from: 'jobs.postpone(db, job, clock.now() + waitMs)',
    to: 'jobs.postpone(db, job, clock.now())',
    test: 'packages/server/src/jobs/runner.test.ts',
    title: 'the job runner tries a failing job again after 2 s and then 4 s, and abandons it 8 s later',
  },
]
