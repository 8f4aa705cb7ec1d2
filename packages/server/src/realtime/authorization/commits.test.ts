import { expect, onTestFinished, test } from 'vitest'
import { createPostgresDatabase } from '../../../test/support/harness.ts'
import { openDatabase } from '../../store/engine/open.ts'
import { Commits, type Sender, maxPause } from './commits.ts'

/** Stops this process, as SIGSTOP would. */
const freeze = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

test('[B3.1] a server that is frozen for more than 2 s after its last look at the senders does not commit', async () => {
  const url = await createPostgresDatabase()
  const database = await openDatabase({ url, dataDir: '', durability: 'full', poolSize: 2 })
  onTestFinished(() => database.close())
  const commits = new Commits(database, { whenCurrent: () => undefined })
  const write = (name: string, frozenMs: number) => {
    const sender: Sender = {
      get mayStore() {
        freeze(frozenMs)
        return true
      },
      whenDecided: async () => {},
    }
    const limits = maxPause
    return commits.write(new Set(['key']), [sender], (db) => database.lock(db, name), { limits })
  }
  await write('soon', 100)
  await expect(write('late', 2_500)).rejects.toThrow(/terminat|connection/)
  const stored = await database.read.selectFrom('locks').select('name').execute()
  expect(stored).toEqual([{ name: 'soon' }])
})
