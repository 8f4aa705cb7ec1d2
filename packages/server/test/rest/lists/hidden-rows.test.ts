import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'
import { eventually } from '../../support/clients/convergence.ts'
import { plenumConnection } from '../../support/clients/plenum-client.ts'
import { seed } from '../../support/data/large-data.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'
import { expectShortIterations } from '../../support/measures/loop-work.ts'
import { mostStatementsInPlace } from '../../support/measures/statements-in-place.ts'

const organizationId = 'org_1'
/** More than one page scans. */
const count = 6000
/** Rows that a page of such a list may read: 5,000 that it scans, each from up to two tables, and little else. */
const maxRowsPerPage = 11_000
/** What one place is held for: a step of a scan, or the contents of a few rows. */
const maxStatementsInPlace = 4

interface Page {
  data: readonly object[]
  nextPageToken?: string
}

describe.each(stores)('lists of which a user may see little, on %s', (store) => {
  const server = useServer(store)

  /** `reader` may open `d1`, but not `d2`, and may not see the thread `hidden` in `d1`. */
  async function scene() {
    const tenant = await given.tenant(server)
    const { client, apiKey } = tenant
    await client.organizations.add({ organizations: [{ organizationId }] })
    const fill = seed(server.database, apiKey, organizationId)
    await fill.documents(2)
    await client.users.add({ organizationId, users: [{ userId: 'grace' }] })
    await client.documents.updateAccess({ organizationId, documentIds: ['d2'], accessType: 'restricted' })
    await client.commentAnnotations.add({
      organizationId,
      documentId: 'd1',
      commentAnnotations: [
        {
          annotationId: 'hidden',
          visibility: { type: 'restricted', userIds: ['grace'] },
          commentData: [{ commentText: 'x', from: { userId: 'grace' } }],
        },
      ],
    })
    const change = (statement: string) =>
      server.database.write((db) => sql`${sql.raw(statement)} and api_key = ${apiKey}`.execute(db))
    const token = await tokenFor(tenant, 'reader')
    const connection = () => plenumConnection(client, token)
    return { apiKey, fill, change, reader: server.client({ token }), connection }
  }

  /** Reads all pages. Each must be short work, and hold a place for a statement at a time. */
  async function readAll(apiKey: string, get: (page: { pageToken?: string }) => Promise<Page>) {
    const pages: number[] = []
    const all: object[] = []
    for (
      let pageToken: string | undefined, isFirst = true;
      isFirst || pageToken !== undefined;
      isFirst = false
    ) {
      const page = { ...(pageToken !== undefined && { pageToken }) }
      let statements = 0
      const { total } = await expectShortIterations(async () => {
        statements = await mostStatementsInPlace(apiKey, async () => {
          const { data, nextPageToken } = await get(page)
          pages.push(data.length)
          all.push(...data)
          pageToken = nextPageToken
        })
      })
      expect(total.rows).toBeLessThan(maxRowsPerPage)
      expect(statements).toBeLessThanOrEqual(maxStatementsInPlace)
    }
    return { pages, all }
  }

  test('[0.5.3] [18.2.1] [S5.9] a page of an inbox with very many hidden notifications ends early, and the next one goes on', async () => {
    const { apiKey, fill, change, reader, connection } = await scene()
    await fill.notifications(count, 2)
    await fill.inbox(count, 'reader')
    await change(`update notifications set annotation_id = 'hidden', data = '{"targetAnnotationId":"hidden"}'
      where document_id = 'd1' and notification_id <> 'n2'`)
    const { pages, all } = await readAll(apiKey, (page) =>
      reader.notifications.get({ organizationId, ...page }),
    )
    expect(pages).toEqual([0, 1])
    expect(all).toMatchObject([{ id: 'n2' }])

    const inbox = connection().inbox(organizationId)
    inbox.subscribe(() => {})
    await eventually(() => inbox.isLoading).toBe(false)
    expect(inbox.notifications).toMatchObject([{ id: 'n2' }])
    expect(inbox.hasMore).toBe(false)
  })

  test('[0.5.3] [25.6] [S5.9] a page of activities about threads that the user may not see ends early, and the next one goes on', async () => {
    const { apiKey, fill, change, reader } = await scene()
    await fill.activities(count)
    await change(`update activities set annotation_id = 'hidden' where activity_id <> 'a2'`)
    const document = { organizationId, documentId: 'd1' }
    const { pages, all } = await readAll(apiKey, (page) => reader.activities.get({ ...document, ...page }))
    expect(pages).toEqual([0, 1])
    expect(all).toMatchObject([{ id: 'a2' }])
  })

  test('[0.5.3] [25.6] [S5.9] a page of threads that the user may not see ends early, and the next one goes on', async () => {
    const { apiKey, fill, change, reader, connection } = await scene()
    await fill.annotations(count, 'd2')
    await change(
      `update annotations set document_id = 'd1', audience = '{"users":["grace"]}' where document_id = 'd2' and number > 2`,
    )
    await change(`update annotations set document_id = 'd1' where document_id = 'd2' and number = 2`)
    const document = { organizationId, documentId: 'd1' }
    const { pages, all } = await readAll(
      apiKey,
      (page) => reader.commentAnnotations.get({ ...document, ...page }) as Promise<Page>,
    )
    expect(pages).toEqual([0, 1])
    expect(all).toMatchObject([{ annotationId: 'a2' }])

    const { threads } = connection().document(organizationId, 'd1')
    threads.subscribe(() => {})
    await eventually(() => threads.isLoading).toBe(false)
    expect(threads.threads).toMatchObject([{ annotationId: 'a2' }])
    expect(threads.hasMore).toBe(false)
  })
})
