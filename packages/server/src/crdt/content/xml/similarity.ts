import type { XmlNode } from './xml.ts'

/** How many words, names and attributes of a node are compared. */
const maxFeatures = 64

/** What is compared to find the node that a changed node was before. */
export function featuresOf(nodes: readonly XmlNode[]): Set<string> {
  const features: string[] = []
  const read = (node: XmlNode) => {
    const words = typeof node === 'string' ? node.matchAll(/[\p{L}\p{N}]+/gu) : []
    for (const [word] of words) if (features.push(word) >= maxFeatures) return
    if (typeof node === 'string') return
    features.push(
      `<${node.name}`,
      ...node.attributes.slice(0, maxFeatures).map((attribute) => attribute.join('=')),
    )
    for (const child of node.children) {
      if (features.length >= maxFeatures) return
      read(child)
    }
  }
  for (const node of nodes) if (features.length < maxFeatures) read(node)
  return new Set(features.slice(0, maxFeatures))
}

/** From 0 to 1: the share of the features that both have. */
export function similarity(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let common = 0
  for (const feature of a) if (b.has(feature)) common++
  return a.size + b.size === 0 ? 1 : (2 * common) / (a.size + b.size)
}
