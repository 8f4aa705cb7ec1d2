/** The types that the value of an attribute can have besides string. */
export type Kind = 'number' | 'boolean' | 'json'

/** Formats that every editor of this family has: Tiptap and BlockNote. */
const usualFormats = ['bold', 'code', 'italic', 'link', 'strike', 'underline']

/** Formats of the schemas of ProseMirror, whose elements have names such as `code_block`. */
const schemaFormats = ['code', 'em', 'link', 'strong']

/** Formats that only some of these editors have. */
const otherFormats = ['backgroundColor', 'highlight', 'subscript', 'superscript', 'textColor', 'textStyle']

/** All of them are formats unless the document has such elements. */
export const formatNames: ReadonlySet<string> = new Set([...usualFormats, ...schemaFormats, ...otherFormats])

/** Names of HTML that these editors do not have. */
const htmlNames = 'a b br div h1 h2 h3 h4 h5 h6 hr i img li ol p pre s span sub sup u ul'.split(' ')

/**
 * Whether an editor of this kind may lack a name that its document does not have yet. An editor removes an element that it
 * does not know, and the whole text around a format that it does not know.
 */
export function isForeign(name: string, { elements, formats }: Names): boolean {
  if (!elements.has('paragraph')) return false
  if (htmlNames.includes(name) || !formatNames.has(name)) return htmlNames.includes(name)
  const isSchema =
    formats.has('em') || formats.has('strong') || [...elements].some((element) => element.includes('_'))
  return !(isSchema ? schemaFormats : usualFormats).includes(name)
}

/** The names of elements and of formats in a document. */
export interface Names {
  elements: Set<string>
  formats: Set<string>
}

const number: Kind[] = ['number']
const boolean: Kind[] = ['boolean']
const json: Kind[] = ['json']

const cell = (name: string): Record<string, Kind[]> => ({
  [`${name} colspan`]: number,
  [`${name} rowspan`]: number,
  [`${name} colwidth`]: json,
})

/** Attributes of the same editors that are not strings, as element and attribute. Editors ignore "2" where 2 is expected. */
export const kindsOfAttributes: Readonly<Record<string, readonly Kind[]>> = {
  'heading level': number,
  'heading isToggleable': boolean,
  'orderedList start': number,
  'ordered_list order': number,
  'numberedListItem start': number,
  'taskItem checked': boolean,
  'checkListItem checked': boolean,
  'details open': boolean,
  ...cell('tableCell'),
  ...cell('tableHeader'),
  ...cell('table_cell'),
  ...cell('table_header'),
}
