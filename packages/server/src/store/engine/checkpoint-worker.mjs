// This thread copies the write-ahead log into the database file, so that the event loop never waits for the copy.
// It answers each message with one message. On `stop` it ends by itself, without an answer: terminating a thread inside
// SQLite would abort the process.
import { parentPort, workerData } from 'node:worker_threads'
import { DatabaseSync } from '@photostructure/sqlite'

const db = new DatabaseSync(workerData.file)
// Writers wait while the log is emptied, so a reader that prevents it is not waited for.
db.exec('pragma busy_timeout = 50; pragma synchronous = normal; pragma wal_autocheckpoint = 0')
const copy = db.prepare('pragma wal_checkpoint(passive)')
const empty = db.prepare('pragma wal_checkpoint(truncate)')

parentPort.on('message', (message) => {
  if (message === 'stop') {
    db.close()
    parentPort.close()
    return
  }
  try {
    const { busy, log, checkpointed } = (message === 'empty' ? empty : copy).get()
    // A copy that has to wait copies what it can. Emptying does all or nothing.
    const left = message === 'empty' ? busy : log - checkpointed
    parentPort.postMessage({ frames: log, left })
  } catch (error) {
    parentPort.postMessage({ error: String(error) })
  }
})
