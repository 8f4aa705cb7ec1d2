import { setTimeout as after } from 'node:timers/promises'
import * as Y from 'yjs'
import { createRandom } from '../random/random.ts'

export interface RandomEditor {
  /** In [0, 1). */
  random(): number
  /** One transaction with one to three random changes. */
  change(doc: Y.Doc): void
  /** A pause of a few milliseconds, so that clients do not strictly alternate. */
  pause(): Promise<void>
}

const words = ['a', 'lorem', 'ipsum dolor', 'é', '🙂', '日本語', '\n', 'x'.repeat(300)]

/** Changes documents like users who type, delete, paste and format. The same seed makes the same changes. */
export function randomEditor(seed: number): RandomEditor {
  const below = createRandom(seed)
  const random = below.fraction
  const word = () => below.of(words)

  /** An index between two characters: Yjs replaces a surrogate pair that is split, and no editor splits one. */
  const placeIn = (text: Y.Text, from = 0, limit = Infinity) => {
    const at = from + below(Math.min(text.length - from, limit) + 1)
    return /^[\uDC00-\uDFFF]/.test(text.toJSON().slice(at)) ? at + 1 : at
  }
  const type = (text: Y.Text) => text.insert(placeIn(text), word())
  const remove = (text: Y.Text) => {
    const at = placeIn(text)
    text.delete(at, placeIn(text, at, 20) - at)
  }
  const format = (text: Y.Text) => {
    const at = placeIn(text)
    text.format(at, placeIn(text, at, 20) - at, { bold: random() < 0.5 ? true : null })
  }
  const paragraphs = (xml: Y.XmlFragment) => {
    if (xml.length === 0 || random() < 0.4) {
      const paragraph = new Y.XmlElement('p')
      paragraph.insert(0, [new Y.XmlText(word())])
      paragraph.setAttribute('level', `${below(3)}`)
      xml.insert(below(xml.length + 1), [paragraph])
    } else if (random() < 0.3) xml.delete(below(xml.length), 1)
    else {
      const text = (xml.get(below(xml.length)) as Y.XmlElement).get(0)
      if (text instanceof Y.XmlText) type(text)
    }
  }
  const items = (array: Y.Array<unknown>) => {
    if (array.length > 0 && random() < 0.4) array.delete(below(array.length), 1)
    else array.insert(below(array.length + 1), [below(100), word()])
  }
  const keys = (map: Y.Map<unknown>) => {
    const key = `key ${below(5)}`
    if (random() < 0.2) map.delete(key)
    else if (random() < 0.3) map.set(key, Y.Array.from([word()]))
    else map.set(key, { value: below(100), text: word() })
  }

  return {
    random,
    pause: () => after(below(8)),
    change(doc) {
      const text = doc.getText('content')
      const kinds = [
        () => type(text),
        () => type(text),
        () => type(text),
        () => remove(text),
        () => format(text),
        () => paragraphs(doc.getXmlFragment('xml')),
        () => items(doc.getArray('array')),
        () => keys(doc.getMap('map')),
      ]
      doc.transact(() => {
        for (let changes = 1 + below(3); changes > 0; changes--) kinds[below(kinds.length)]?.()
      })
    },
  }
}
