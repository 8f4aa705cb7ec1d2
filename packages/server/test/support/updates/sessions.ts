import * as Y from 'yjs'
import { createRandom, type Random } from '../random/random.ts'
import { disagreement, docOf, validate, stateOf } from './scenes.ts'

/** One action of one of the editors. `a` and `b` decide its position and its content. */
export interface Step {
  peer: number
  action: number
  a: number
  b: number
}

export const randomSteps = (random: Random, count: number): Step[] =>
  Array.from({ length: count }, () => ({
    peer: random(4),
    action: random(1000),
    a: random(1000),
    b: random(1000),
  }))

type Edit = (doc: Y.Doc, a: number, b: number, undo: Y.UndoManager) => void

const at = (length: number, a: number) => a % (length + 1)
const words = ['a', 'hello', '😀', 'é', '\n', 'x\ud83d\ude00y']
const values = [1, 'two', null, { deep: [1, { x: true }] }, [1, 2], 2.5, new Uint8Array([1, 2]), false]
const word = (b: number) => words[b % words.length] as string
const value = (b: number) => values[b % values.length]
const key = (a: number) => `k${a % 3}`

function newType(b: number): Y.AbstractType<unknown> {
  const map = new Y.Map<unknown>([['inner', b]])
  const array = Y.Array.from([b, 'x'])
  const element = new Y.XmlElement('p')
  element.setAttribute('id', String(b))
  return [map, array, new Y.Text('nested'), element, new Y.XmlText('xml'), new Y.Map(), new Y.XmlFragment()][
    b % 7
  ] as Y.AbstractType<unknown>
}

function nestedIn(doc: Y.Doc): Y.AbstractType<unknown>[] {
  const children = [...doc.getMap('m').values(), ...doc.getArray('a').toArray()]
  return children.filter((child): child is Y.AbstractType<unknown> => child instanceof Y.AbstractType)
}

function editNested(doc: Y.Doc, a: number, b: number): void {
  const nested = nestedIn(doc)
  const target = nested[a % Math.max(1, nested.length)]
  if (target instanceof Y.Map) target.set(key(b), b % 3 === 0 ? newType(b) : value(b))
  else if (target instanceof Y.Array)
    target.insert(at(target.length, a), [b % 3 === 0 ? newType(b) : value(b)])
  else if (target instanceof Y.Text) target.insert(at(target.length, a), word(b))
  else if (target instanceof Y.XmlFragment) target.insert(at(target.length, a), [new Y.XmlText(word(b))])
}

const edits: readonly Edit[] = [
  (doc, a, b) => doc.getText('t').insert(at(doc.getText('t').length, a), word(b)),
  (doc, a, b) => doc.getText('t').insert(at(doc.getText('t').length, a), word(b)),
  (doc, a, b) => doc.getText('t').insert(doc.getText('t').length, word(b)),
  (doc, a, b) => remove(doc.getText('t'), a, b),
  (doc, a, b) => {
    const text = doc.getText('t')
    if (text.length > 0) text.format(a % text.length, 1, { [b % 2 ? 'bold' : 'color']: b % 3 ? 'red' : null })
  },
  (doc, a, b) => doc.getText('t').insertEmbed(at(doc.getText('t').length, a), { image: b }),
  (doc, a, b) =>
    doc
      .getText('t')
      .applyDelta([{ retain: at(doc.getText('t').length, a) }, { insert: word(b), attributes: { i: true } }]),
  (doc, a, b) => void doc.getMap('m').set(key(a), b % 9 ? value(b) : BigInt(b)),
  (doc, a, b) => void doc.getMap('m').set(key(a), newType(b)),
  (doc, a) => doc.getMap('m').delete(key(a)),
  (doc, a, b) =>
    void doc.getMap('m').set(key(a), new Y.Doc({ guid: `g${b}`, meta: { b }, autoLoad: b % 2 === 0 })),
  (doc, a, b) => doc.getArray('a').insert(at(doc.getArray('a').length, a), [value(b), value(b + 1)]),
  (doc, _, b) => doc.getArray('a').push([value(b)]),
  (doc, a, b) => doc.getArray('a').insert(at(doc.getArray('a').length, a), [newType(b)]),
  (doc, a, b) => remove(doc.getArray('a'), a, b),
  (doc, a, b) => {
    const element = b % 3 ? new Y.XmlElement('p') : (new Y.XmlHook('hook') as unknown as Y.XmlElement)
    doc.getXmlFragment('x').insert(at(doc.getXmlFragment('x').length, a), [element])
  },
  (doc, a, b) => {
    const child = doc.getXmlFragment('x').get(a % Math.max(1, doc.getXmlFragment('x').length))
    if (child instanceof Y.XmlElement) child.setAttribute(key(b), word(b))
  },
  (doc, a, b) => remove(doc.getXmlFragment('x'), a, b),
  editNested,
  editNested,
  (doc, a, b) =>
    doc.transact(() => {
      for (let i = 0; i < 3; i++) doc.getMap('m').set(key(a), i)
      doc.getText('t').insert(0, word(b))
      remove(doc.getText('t'), a, b)
    }),
  (_doc, _a, _b, undo) => void undo.undo(),
  (_doc, _a, _b, undo) => void undo.redo(),
]

function remove(list: Y.Text | Y.Array<unknown> | Y.XmlFragment, a: number, b: number): void {
  if (list.length === 0) return
  const index = a % list.length
  list.delete(index, Math.min(1 + (b % 4), list.length - index))
}

interface Peer {
  doc: Y.Doc
  undo: Y.UndoManager
  /** Local updates that were not sent to the server yet. */
  outbox: Uint8Array[]
  /** Updates of the server that were not applied here yet. */
  inbox: Uint8Array[]
  /** An older state vector of the server. */
  seen: Uint8Array
}

/** Editors and a server that validates every update. `run` returns the first disagreement with Yjs. */
export class Session {
  readonly server = new Y.Doc()
  readonly peers: Peer[]
  readonly counts = { accepted: 0, changes: 0, gap: 0, future_delete: 0 }
  /** Called before an accepted update is applied. */
  onAccepted: ((server: Y.Doc, bytes: Uint8Array) => void) | undefined

  constructor(peers: number) {
    this.peers = Array.from({ length: peers }, (_, i) => {
      const doc = new Y.Doc({ gc: i !== 1 })
      doc.clientID = 4_000_000_000 + i * 7
      const scope = [doc.getText('t'), doc.getMap('m'), doc.getArray('a'), doc.getXmlFragment('x')]
      const undo = new Y.UndoManager(scope as Y.AbstractType<unknown>[], { captureTimeout: 0 })
      const peer: Peer = { doc, undo, outbox: [], inbox: [], seen: Uint8Array.of(0) }
      doc.on('update', (bytes: Uint8Array, origin: unknown) => {
        if (origin !== this) peer.outbox.push(bytes)
      })
      return peer
    })
    this.server.on('update', (bytes: Uint8Array) => {
      for (const { inbox } of this.peers) inbox.push(bytes)
    })
  }

  run(steps: readonly Step[]): string | undefined {
    for (const step of steps) {
      const problem = this.runStep(step)
      if (problem !== undefined) return problem
    }
    return this.finish()
  }

  private runStep({ peer: index, action, a, b }: Step): string | undefined {
    const peer = this.peers[index % this.peers.length] as Peer
    const { doc, outbox, inbox } = peer
    switch (action % 16) {
      case 0:
      case 1: {
        const bytes = outbox.shift()
        return bytes && this.send(bytes)
      }
      case 2: {
        const bytes = outbox[1 + (a % 3)]
        return bytes && this.sendEarly(bytes)
      }
      case 3:
        return outbox.length > 0 ? this.send(Y.mergeUpdates(outbox.splice(0))) : undefined
      case 4:
        for (const bytes of inbox.splice(0, 1 + (a % 5))) Y.applyUpdate(doc, bytes, this)
        return undefined
      case 5:
        return this.sendState(peer, Y.encodeStateVector(this.server))
      case 6:
        return this.sendState(peer, b % 2 ? peer.seen : Uint8Array.of(0))
      case 7:
        peer.seen = Y.encodeStateVector(this.server)
        return undefined
      default:
        ;(edits[b % edits.length] as Edit)(doc, a, Math.floor(b / edits.length), peer.undo)
        return undefined
    }
  }

  /** Sends an update in order: it must be accepted. */
  private send(bytes: Uint8Array): string | undefined {
    const { server } = this
    const verdict = validate(server, bytes)
    if (!verdict.ok) return `refused: ${verdict.fault.message}`
    this.counts.accepted++
    if (verdict.value.hasChanges) this.counts.changes++
    this.onAccepted?.(server, bytes)
    const before = Y.encodeStateAsUpdate(server)
    const problem = disagreement(server, bytes, verdict.value)
    if (problem !== undefined) return problem
    const isChanged = Buffer.compare(before, Y.encodeStateAsUpdate(server)) !== 0
    return isChanged === verdict.value.hasChanges ? undefined : `hasChanges is ${!isChanged}`
  }

  /** Sends an update before others on which it may depend: it is refused exactly if Yjs would keep a part pending. */
  private sendEarly(bytes: Uint8Array): string | undefined {
    const copy = docOf(Y.encodeStateAsUpdate(this.server))
    Y.applyUpdate(copy, bytes)
    const { pendingStructs, pendingDs } = copy.store
    if (pendingStructs === null && pendingDs === null) return this.send(bytes)
    const expected = pendingStructs === null ? 'future_delete' : 'gap'
    const verdict = validate(this.server, bytes)
    this.counts[expected]++
    if (verdict.ok) return `accepted, but ${expected}`
    return verdict.fault.code === expected ? undefined : `${verdict.fault.code} instead of ${expected}`
  }

  /** Sends the difference to a state vector. With an old vector an item may be partly known; then the current one is used. */
  private sendState({ doc }: Peer, vector: Uint8Array): string | undefined {
    const bytes = Y.encodeStateAsUpdate(doc, vector)
    const verdict = validate(this.server, bytes)
    if (verdict.ok || verdict.fault.code !== 'gap') return this.send(bytes)
    this.counts.gap++
    return this.send(Y.encodeStateAsUpdate(doc, Y.encodeStateVector(this.server)))
  }

  private finish(): string | undefined {
    for (const { outbox } of this.peers) {
      for (const bytes of outbox.splice(0)) {
        const problem = this.send(bytes)
        if (problem !== undefined) return problem
      }
    }
    const state = Y.encodeStateAsUpdate(this.server)
    const again = validate(new Y.Doc(), state)
    if (!again.ok) return `the whole state is refused: ${again.fault.message}`
    for (const { doc, inbox } of this.peers) {
      for (const bytes of inbox.splice(0)) Y.applyUpdate(doc, bytes, this)
      const missing = [...stateOf(this.server)].filter(([id, clock]) => (stateOf(doc).get(id) ?? 0) < clock)
      if (missing.length > 0) return 'an editor lacks changes of the server'
    }
    return undefined
  }
}

export interface RealUpdate {
  /** The state of the document before the update. */
  base: Uint8Array
  bytes: Uint8Array
}

/** Updates of random sessions, each with the document to which it is applied. */
export function realUpdates(seed: number, count: number): RealUpdate[] {
  const random = createRandom(seed)
  const found: RealUpdate[] = []
  while (found.length < count) {
    const session = new Session(2 + random(3))
    session.onAccepted = (server, bytes) => found.push({ base: Y.encodeStateAsUpdate(server), bytes })
    const problem = session.run(randomSteps(random, 60))
    if (problem !== undefined) throw new Error(problem)
  }
  return found.slice(0, count)
}
