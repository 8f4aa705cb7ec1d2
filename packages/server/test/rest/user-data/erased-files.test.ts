import { copyFileSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { useServer } from '../../support/harness.ts'

const organizationId = 'org_1'
const ref = { organizationId, documentId: 'doc_1' }
const ada = { userId: 'u4711', name: 'Ada Erased', email: 'ada-erased@example.com' }
const grace = { userId: 'grace', name: 'Grace' }

const server = useServer('sqlite', { isOwn: true })

const pageSize = 4096
/** The types of pages in a tree. Other pages are free, or have the rest of a long row. */
const treePages = [2, 5, 10, 13]

/**
 * Blanks the part of each page that is not in use, between the list of its rows and the rows: when SQLite divides a full page,
 * it may leave a copy of a row there.
 */
function withoutGaps(bytes: Buffer): Buffer {
  for (let from = 0; from < bytes.length; from += pageSize) {
    // The first page begins with the header of the file.
    const header = from === 0 ? 100 : from
    const type = bytes.readUInt8(header)
    if (!treePages.includes(type)) continue
    const begin = header + (type < 8 ? 12 : 8) + 2 * bytes.readUInt16BE(header + 3)
    bytes.fill(0, begin, from + (bytes.readUInt16BE(header + 5) || 65_536))
  }
  return bytes
}

/** The files of the database that have one of these texts. */
const filesWith = (texts: readonly string[], read = (bytes: Buffer) => bytes) => {
  const { dataDir } = server.data
  const names = readdirSync(dataDir).filter((name) => name.startsWith('plenum.db'))
  return names.filter((name) => {
    const bytes = readFileSync(join(dataDir, name))
    const shown = name === 'plenum.db' ? read(bytes) : bytes
    return texts.some((text) => shown.includes(text))
  })
}

test('[14.2.8] the log is not emptied while another process reads the database, and later it is', async () => {
  const other = new DatabaseSync(join(server.data.dataDir, 'plenum.db'))
  try {
    other.exec('begin; select count(*) from users')
    await given.tenant(server)
    await expect(server.database.emptyLog()).rejects.toThrow('another process reads the database')
    other.exec('commit')
    await server.database.emptyLog()
    expect(statSync(join(server.data.dataDir, 'plenum.db-wal')).size).toBe(0)
    await given.tenant(server)
  } finally {
    other.close()
  }
})

test('[14.2.8] after an erasure, no row, no free page and no log of the embedded database has a text, the name or the address of the user, and after a vacuum no byte at all', async () => {
  const tenant = await given.tenant(server)
  const { client } = tenant
  await given.document(tenant)
  await client.users.add({ organizationId, users: [ada, grace] })
  // Short texts are inside of pages, and long ones have pages of their own, which become free.
  const texts = Array.from({ length: 100 }, (_, index) =>
    'Ada-text '.repeat(index % 10 === 0 ? 1000 : index + 1),
  )
  for (const [index, commentText] of texts.entries()) {
    await client.commentAnnotations.add({
      ...ref,
      commentAnnotations: [
        {
          annotationId: `a${index}`,
          commentData: [
            { commentId: 1, commentText, from: ada },
            { commentId: 2, commentText: `Answer ${index}`, from: grace, context: { asked: ada } },
          ],
          context: { note: 'Ada-text' },
        },
      ],
    })
  }
  const thread = { ...ref, annotationId: 'a5' }
  await client.comments.update({
    ...thread,
    commentIds: [1],
    updatedData: { commentText: 'Ada-text, edited' },
  })
  await client.comments.delete({ ...ref, annotationId: 'a7', commentIds: [1] })
  const secrets = ['Ada-text', ada.name, ada.email]
  await expect.poll(() => filesWith(secrets, withoutGaps)).toEqual(['plenum.db', 'plenum.db-wal'])

  const { jobId } = (await client.userData.delete({ userIds: [ada.userId] })).data
  const isDone = async () => (await client.userData.deleteStatus({ jobId })).data.isDeleteCompleted
  await expect.poll(isDone, { timeout: 60_000 }).toBe(true)
  expect(filesWith(secrets, withoutGaps)).toEqual([])
  expect(filesWith(['Answer 3'], withoutGaps)).toContain('plenum.db')

  // As the guide for operators says. The log is empty, so a copy of the file has everything.
  const copy = join(server.data.dataDir, 'copy.db')
  copyFileSync(join(server.data.dataDir, 'plenum.db'), copy)
  const database = new DatabaseSync(copy)
  database.exec('vacuum; pragma wal_checkpoint(truncate)')
  database.close()
  const bytes = readFileSync(copy)
  expect(secrets.filter((text) => bytes.includes(text))).toEqual([])
  expect(bytes.includes('Answer 3')).toBe(true)
})
