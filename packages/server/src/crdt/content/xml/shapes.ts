import type { XmlNode } from './xml.ts'

/** Gives equal lists of nodes equal numbers, so that whole subtrees are compared at once. */
export class Shapes {
  readonly #numbers = new Map<string, number>()
  readonly #ofTags = new WeakMap<object, number>()

  of(nodes: readonly XmlNode[]): number {
    return this.#number(nodes.map((node) => this.#ofNode(node)).join())
  }

  #ofNode(node: XmlNode): number {
    if (typeof node === 'string') return this.#number(`"${node}`)
    let number = this.#ofTags.get(node)
    if (number === undefined) {
      const { name, attributes, children } = node
      number = this.#number(JSON.stringify([name, attributes, this.of(children)]))
      this.#ofTags.set(node, number)
    }
    return number
  }

  #number(key: string): number {
    let number = this.#numbers.get(key)
    if (number === undefined) this.#numbers.set(key, (number = this.#numbers.size))
    return number
  }
}
