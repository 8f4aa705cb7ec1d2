// This thread copies the write-ahead log into the database file, so that the event loop never waits for the copy.
// It answers each message with one message. On `stop` it ends by itself, without an answer: terminating a thread inside
// SQLite would abort the process.
import { parentPort, workerData } from 'node:worker_threads'
import { DatabaseSync } from '@photostructure/sqlite'

const db = new DatabaseSync(workerData.file)
db.exec('pragma busy_timeout = 1000; pragma synchronous = normal; pragma wal_autocheckpoint = 0')
const passive = db.prepare('pragma wal_checkpoint(passive)')

parentPort.on('message', (message) => {
  if (message === 'stop') {
    db.close()
    parentPort.close()
    return
  }
  try {
    const { log, checkpointed } = passive.get()
    parentPort.postMessage({ frames: log, left: log - checkpointed })
  } catch (error) {
    parentPort.postMessage({ error: String(error) })
  }
})
