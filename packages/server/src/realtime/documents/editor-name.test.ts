import { editorName } from '@plenum/client'
import { isChosenId } from '@plenum/protocol'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseEditorName } from './editor-name.ts'

const anyId = fc
  .oneof(
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.webUrl(),
    fc.constantFrom('%', '/', '%2F', 'a/b', '..a'),
  )
  .filter(isChosenId)

describe('the name of an editor', () => {
  test('[R1.6] [0.6.1] the name that the client builds from any ids is read back as these ids', () => {
    fc.assert(
      fc.property(anyId, anyId, anyId, (organizationId, documentId, editorId) => {
        const name = editorName(organizationId, documentId, editorId)
        expect(parseEditorName(name)).toEqual({ organizationId, documentId, editorId })
        // A provider puts the name into a URL, which must not change it.
        expect(new URL(`ws://host/yjs/${name}`).pathname).toBe(`/yjs/${name}`)
      }),
      { numRuns: 3000 },
    )
  })

  test.each([
    ['org_1/doc_1/note', { organizationId: 'org_1', documentId: 'doc_1', editorId: 'note' }],
    ['a%2Fb/c/d', { organizationId: 'a/b', documentId: 'c', editorId: 'd' }],
    ['a/b%252Fc/d', { organizationId: 'a', documentId: 'b%2Fc', editorId: 'd' }],
    ['a/50%/d', { organizationId: 'a', documentId: '50%', editorId: 'd' }],
    ['a/b/c/d', undefined],
    ['a/b', undefined],
    ['', undefined],
    ['a/../d', undefined],
    ['a/%2E/d', undefined],
    ['a//d', undefined],
  ])('[R1.6] [R1.7] [R1.8] the name %j is read as %j', (name, ref) => {
    expect(parseEditorName(name)).toEqual(ref)
  })
})
