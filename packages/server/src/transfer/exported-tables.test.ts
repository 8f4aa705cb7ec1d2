import { expect, test } from 'vitest'
import { filledServer, withDatabase } from '../../test/support/data/transfers.ts'
import { sealedColumns } from '../commands/rotation/sealed-columns.ts'
import { exportedTables } from './exported-tables.ts'
import { readTables } from './stored-tables.ts'

test('[D9.2] an export has no column with encrypted values', async () => {
  const { data } = await filledServer('sqlite')
  const exported = exportedTables(await withDatabase(data, ({ read }) => readTables(read)))
  const found = sealedColumns.filter(({ table, column }) =>
    exported.some(({ name, columns }) => name === table && column in columns),
  )
  expect(found).toEqual([])
})
