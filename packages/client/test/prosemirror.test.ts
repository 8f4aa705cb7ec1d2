import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { bundle } from './support/pages.ts'

test('[K13.1] comments in ProseMirror take less than 3 KB, compressed, without ProseMirror and Yjs', async () => {
  const code = await bundle('src/prosemirror.ts', ['yjs', 'prosemirror-state', 'prosemirror-view'])
  expect(gzipSync(code).length).toBeLessThan(3 * 1024)
})
