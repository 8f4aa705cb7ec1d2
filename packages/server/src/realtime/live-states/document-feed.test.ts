import { beforeEach, describe, expect, test } from 'vitest'
import type { LiveStateValue, Position } from '@plenum/protocol/realtime'
import type { StoredLiveState } from '../../store/documents/live-state-log.ts'
import { DocumentFeed, type FeedChange, type FeedSubscriber } from './document-feed.ts'

/** The values of a store that answers when a test calls `answer`. */
let stored: Map<string, StoredLiveState>
let position: Position | undefined
let answers: { answer: () => void; fail: (error: Error) => void }[]
let events: string[]
let feed: DocumentFeed

const set = (liveStateDataId: string, value: unknown) => {
  position = { epoch: position?.epoch ?? 'e', seq: (position?.seq ?? 0) + 1 }
  const json = JSON.stringify({ value })
  stored.set(liveStateDataId, { liveStateDataId, json, seq: position.seq, userId: 'u', lastUpdated: 1 })
}
const answer = async () => {
  answers.shift()?.answer()
  await new Promise((resolve) => setImmediate(resolve))
}
const load = async () => {
  const loading = feed.load()
  await answer()
  await loading
}
const values = (seq: number) =>
  (JSON.parse(feed.bytesSince(seq).toString()) as LiveStateValue[]).map(({ liveStateDataId, data }) => [
    liveStateDataId,
    data.value,
  ])

beforeEach(() => {
  stored = new Map()
  position = { epoch: 'e', seq: 0 }
  answers = []
  events = []
  feed = new DocumentFeed({
    readThreads: async () => ({ changed: [], removed: [], unread: new Map(), isTooMany: false }),
    readViewed: async () => [],
    visibleFor: () => undefined,
    onGone: () => events.push('gone'),
    onError: () => events.push('failed'),
    read: (seq) => {
      const at = position && { ...position }
      const states = [...stored.values()].filter((state) => state.seq > seq)
      return new Promise((resolve, reject) => {
        answers.push({ answer: () => resolve(at && { position: at, states }), fail: reject })
      })
    },
  })
})

class Subscriber implements FeedSubscriber {
  readonly wantsLiveStates = true
  readonly wantsThreads = false
  readonly session = 'backend'
  readonly broadcasts: [from: number, to: number | undefined][] = []
  lost = 0
  onFeedChanged({ from }: FeedChange): void {
    this.broadcasts.push([from, feed.position?.seq])
  }
  onThreadsViewed(): void {}
  onFeedLost(): void {
    this.lost++
  }
}

describe('[R11] the live states of an open document', () => {
  test('[R11.1] changes stored during a read are read next and broadcast once', async () => {
    set('a', 1)
    await load()
    const subscriber = new Subscriber()
    feed.subscribe(subscriber)
    set('a', 2)
    feed.onStored()
    set('b', 1)
    feed.onStored()
    set('a', 3)
    feed.onStored()
    expect(answers).toHaveLength(1)
    await answer()
    await answer()
    expect(answers).toHaveLength(0)
    expect(subscriber.broadcasts).toEqual([
      [1, 2],
      [2, 4],
    ])
    expect(values(0)).toEqual([
      ['a', 3],
      ['b', 1],
    ])
    expect(values(2)).toEqual([
      ['a', 3],
      ['b', 1],
    ])
    expect(values(3)).toEqual([['a', 3]])
    expect(values(4)).toEqual([])
  })

  test('[R11.1] repeated and superfluous bus messages broadcast no change twice', async () => {
    await load()
    const subscriber = new Subscriber()
    feed.subscribe(subscriber)
    set('a', 1)
    set('b', 1)
    feed.onStored()
    feed.onStored()
    await answer()
    await answer()
    feed.onStored()
    await answer()
    expect(subscriber.broadcasts).toEqual([[0, 2]])
  })

  test('[R11] a document that was deleted, or replaced by another document under its id, is reported as gone', async () => {
    set('a', 1)
    await load()
    feed.subscribe(new Subscriber())
    position = { epoch: 'another', seq: 1 }
    feed.onStored()
    await answer()
    position = undefined
    feed.onStored()
    await answer()
    expect(events).toEqual(['gone', 'gone'])
  })

  test('[R11.1] the result of a read is discarded if the live states were dropped meanwhile', async () => {
    set('a', 1)
    const loading = feed.load()
    feed.drop()
    await answer()
    await loading
    expect(feed.position).toBeUndefined()
    await load()
    expect(feed.position).toEqual({ epoch: 'e', seq: 1 })
  })

  test('[R11] live states without a subscriber are read again only by the next `load`', async () => {
    await load()
    set('a', 1)
    feed.onStored()
    expect(answers).toHaveLength(0)
    await load()
    expect(values(0)).toEqual([['a', 1]])
  })

  test('[R11.1] subscribers are notified when changes cannot be read, and a later `load` tries again', async () => {
    await load()
    const subscriber = new Subscriber()
    feed.subscribe(subscriber)
    feed.onStored()
    answers.shift()?.fail(new Error('The database is away.'))
    await answer()
    expect([events, subscriber.lost]).toEqual([['failed'], 1])
    const loading = feed.load()
    answers.shift()?.fail(new Error('The database is still away.'))
    await expect(loading).rejects.toThrow('still away')
    await load()
    expect(feed.position).toEqual({ epoch: 'e', seq: 0 })
  })
})
