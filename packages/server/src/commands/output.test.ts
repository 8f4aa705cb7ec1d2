import { expect, test } from 'vitest'
import { showProgress } from './output.ts'

function streamOf(isTTY: boolean) {
  const written: string[] = []
  const stream = { isTTY, write: (text: string) => written.push(text) > 0 }
  return { written, stream: stream as unknown as NodeJS.WriteStream }
}

test('[D1.2] progress is a bar on one line in a terminal', () => {
  const { written, stream } = streamOf(true)
  const progress = showProgress('Copying', stream)
  progress.update(1, 4)
  progress.update(4, 4)
  progress.end()
  expect(written).toEqual([
    `\rCopying  ${'█'.repeat(8)}${'░'.repeat(22)}  25 %`,
    `\rCopying  ${'█'.repeat(30)} 100 %`,
    '\n',
  ])
})

test('[D1.2] short work prints no progress without a terminal', () => {
  const { written, stream } = streamOf(false)
  const progress = showProgress('Copying', stream)
  progress.update(1, 4)
  progress.end()
  expect(written).toEqual([])
})
