/**
 * @hocuspocus/server with its defaults. With DATA_DIR it stores with the schema and statements of its SQLite extension, but
 * on the SQLite package of this repository: the package of the extension must be compiled on platforms without a prebuilt
 * binary.
 */
import { join } from 'node:path'
import { Database } from '@hocuspocus/extension-database'
import { Server } from '@hocuspocus/server'
import { DatabaseSync } from '@photostructure/sqlite'

const db = process.env.DATA_DIR && new DatabaseSync(join(process.env.DATA_DIR, 'documents.db'))

function storage() {
  db.exec(
    'create table if not exists documents (name varchar(255) not null, data blob not null, unique(name))',
  )
  const select = db.prepare('select data from documents where name = ?')
  const upsert = db.prepare(
    'insert into documents (name, data) values (?, ?) on conflict(name) do update set data = excluded.data',
  )
  return new Database({
    fetch: async ({ documentName }) => select.get(documentName)?.data ?? null,
    store: async ({ documentName, state }) => void upsert.run(documentName, state),
  })
}

const server = new Server({ quiet: true, extensions: db ? [storage()] : [] })
// Server.listen() ignores the host.
server.httpServer.listen(Number(process.env.PORT), process.env.HOST)

async function stop() {
  await server.destroy()
  // This reference keeps the database from being garbage-collected, which would close it.
  if (db) db.close()
  process.exit()
}
process.on('SIGTERM', () => void stop())
