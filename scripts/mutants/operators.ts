import type { Mutant } from './mutant.ts'

/** What operators rely on: settings, logs, backups, secrets, derived files. */
export const operatorMutants: readonly Mutant[] = [
  {
    name: 'a backup that is restored gives new events the ids of those that readers have seen',
    rule: 'D4.2',
    file: 'packages/server/src/commands/backups/restore-backup.ts',
    from: 'await db.transaction().execute(skipEventIds)',
    to: '',
    test: 'packages/server/test/commands/backup.test.ts',
    title:
      'a client that has seen more than the backup contains gets the restored values, and no event is missed',
  },
  {
    name: 'a damaged backup is restored',
    rule: 'D4.1',
    file: 'packages/server/src/commands/backups/restore-backup.ts',
    from: 'if (differing.length > 0) throw refuse',
    to: 'if (differing.length > 1) throw refuse',
    test: 'packages/server/test/commands/backup.test.ts',
    title: 'a backup that is damaged, changed, too new or of another secret is refused, and nothing changes',
  },
  {
    name: 'a rotation leaves the earlier secret of an endpoint sealed with the old key',
    rule: 'D7.2',
    file: 'packages/server/src/commands/rotation/sealed-columns.ts',
    from: "...['secret', 'previous_secret'].map((column) => ({",
    to: "...['secret'].map((column) => ({",
    test: 'packages/server/test/commands/rotate-secret.test.ts',
    title: 'after a rotation, auth tokens are new, and everything that was stored can still be used',
  },
  {
    name: 'an export has the secrets of webhook endpoints',
    rule: 'D9.2',
    file: 'packages/server/src/transfer/exported-tables.ts',
    from: "['secret', 'previous_secret', 'previous_until']",
    to: "['previous_secret', 'previous_until']",
    test: 'packages/server/src/transfer/exported-tables.test.ts',
    title: 'an export has no column with encrypted values',
  },
  {
    name: 'a setting accepts a number above its maximum',
    rule: 'C1',
    file: 'packages/server/src/config.ts',
    from: 'number < min || number > max',
    to: 'number < min',
    test: 'packages/server/src/config.test.ts',
    title: 'accepts only whole numbers within its bounds',
  },
  {
    name: 'an error message repeats the password in a setting',
    rule: 'C1',
    file: 'packages/server/src/config.ts',
    from: "an address beginning with ${protocols.map((one) => `${one}//`).join(' or ')}`",
    to: 'an address beginning with ${protocols.join(\' or \')}, but is "${value}"`',
    test: 'packages/server/src/config.test.ts',
    title:
      'accepts only an address with one of its protocols, and the error does not repeat the refused value',
  },
  {
    name: 'the log has the values of rows that are in an error of the database',
    rule: 'O1',
    file: 'packages/server/src/platform/log/log.ts',
    from: 'return { type: name, message, stack, code,',
    to: 'return { ...error, type: name, message, stack, code,',
    test: 'packages/server/test/server/server-operations.test.ts',
    title: 'the log contains no secret and no content, also for requests that fail',
  },
  {
    name: 'an operation of the table is not in the derived files',
    rule: '0.1.7',
    file: 'packages/protocol/src/operations/documents.ts',
    from: "documents: batch(DocumentInput, 'The documents to add.'),",
    to: "documents: Type.Optional(batch(DocumentInput, 'The documents to add.')),",
    test: 'packages/server/test/table/openapi.test.ts',
    title: 'the committed derived files are up to date with the operation table',
  },
]
