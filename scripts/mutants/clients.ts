import type { Mutant } from './mutant.ts'

/** The client and its React hooks. */
export const clientMutants: readonly Mutant[] = [
  {
    name: 'the client reports changes as saved that were lost with the connection',
    rule: 'K7',
    file: 'packages/client/src/live/editor/editor-sync.ts',
    from: 'this.#hasUnsent = !this.isSaved',
    to: 'this.#hasUnsent = false',
    test: 'packages/client/src/live/editor/sync.test.ts',
    title: 'after a reconnect',
  },
  {
    name: 'the client does not send a live state again that was in flight',
    rule: 'K5.2',
    file: 'packages/client/src/live/state/live-state-entry.ts',
    from: 'if (this.#sent) this.#sent.isInFlight = false',
    to: 'this.#sent = undefined',
    test: 'packages/client/src/live/state/live-state.test.ts',
    title: 'a change that was in flight when the connection was lost is sent again',
  },
  {
    name: 'the client repeats a write under another idempotency key',
    rule: 'K1',
    file: 'packages/client/src/rest.ts',
    from: 'call.idempotencyKey ?? randomIdempotencyKey()',
    to: 'randomIdempotencyKey()',
    test: 'packages/client/test/client.test.ts',
    title: 'the client sends a new or the given idempotency key with each write, and none with reads',
  },
  {
    name: 'all clients reconnect at the same moment',
    rule: 'K2.1',
    file: 'packages/client/src/platform/retry.ts',
    from: 'this.runAfter(Math.random() * Math.min(',
    to: 'this.runAfter(Math.min(',
    test: 'packages/client/src/live/connection/reconnect.test.ts',
    title: 'a lost connection is retried after a random delay whose bound doubles up to 30 s',
  },
  {
    name: 'a list that could not be loaded stays empty',
    rule: 'K17.6',
    file: 'packages/client/src/live/errors.ts',
    from: 'transientStatuses.includes(status)',
    to: "status === 'ABORTED'",
    test: 'packages/client/src/live/threads/thread-list.test.ts',
    title: 'threads that could not be loaded are loaded again after a delay, and the error stays until then',
  },
  {
    name: 'a component that shows the other users renders when nothing of them has changed',
    rule: 'K10',
    file: 'packages/client/src/live/presence/presence-list.ts',
    from: 'if (!hasSameItems(others, this.others)) this.others = others',
    to: 'this.others = others',
    test: 'packages/client/test/react.browser.test.ts',
    title:
      'useSelf and useOthers follow the presence list, and useOthers renders only when another user changes',
  },
  {
    name: 'an editor is closed although a component has changes in it that are not saved',
    rule: 'K10',
    file: 'packages/client/src/react/shared.ts',
    from: 'editors: new Leases(whenSaved),',
    to: 'editors: new Leases(),',
    test: 'packages/client/test/react.browser.test.ts',
    title: 'what a component wrote while the connection was lost is saved after the component is unmounted',
  },
]
