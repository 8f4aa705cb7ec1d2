import { expect, test } from 'vitest'
import type { Member } from './member.ts'
import { PostponedWork } from './postponed-work.ts'

const update = Uint8Array.of(1)
const ada = {} as Member

test('[R32.3] postponed work runs in order, with what is added meanwhile, and says when none is left', async () => {
  const log: string[] = []
  const work = new PostponedWork()
  work.add(update, () => {
    log.push('first')
    work.add(update, () => log.push('added'))
  })
  work.add(update, () => log.push(`second, ${work.has(ada)}`), ada)
  expect([work.has(ada), work.bytes]).toEqual([true, 130])
  const onEmpty = () => log.push(`empty, ${work.bytes}`)
  await work.run(() => true, { onEmpty })
  expect(log).toEqual(['first', 'second, false', 'added', 'empty, 0'])
})

test('[R32.3] postponed work of a dropped room does not run', async () => {
  const log: string[] = []
  const work = new PostponedWork()
  for (const name of ['first', 'second']) work.add(update, () => log.push(name))
  await work.run(() => log.length === 0, { onEmpty: () => log.push('empty') })
  expect(log).toEqual(['first'])
})
