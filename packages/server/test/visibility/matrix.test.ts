import { afterEach, describe, test } from 'vitest'
import { stores, useServer } from '../support/harness.ts'
import { expectHidden, expectVisible } from './matrix.ts'
import { buildScene } from './scene.ts'

describe.each(stores)('the visibility matrix on %s', (store) => {
  const server = useServer(store, { isOwn: true })

  afterEach(() => {
    server.clock.offsetMs = 0
  })

  test('[25.6] [25.6.1] [25.6.2] [18.2.1] [19.5] [21.2.2] [R53] [R53.1] [R54.1] users see what the matrix says, over REST, on sockets and in open documents, and cannot change, view or follow a hidden annotation, nor learn that it exists', async () => {
    const scene = await buildScene(server)
    await expectVisible(scene, 'sample')
    await expectHidden(scene, 'sample')
  })
})
