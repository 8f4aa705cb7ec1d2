/** The types that the value of an attribute can have besides string. */
export type Kind = 'number' | 'boolean' | 'json'

/** Names of the formats of Tiptap, BlockNote and the schemas of ProseMirror: they are formats unless the document has such elements. */
export const formatNames: ReadonlySet<string> = new Set([
  'backgroundColor',
  'bold',
  'code',
  'em',
  'highlight',
  'italic',
  'link',
  'strike',
  'strong',
  'subscript',
  'superscript',
  'textColor',
  'textStyle',
  'underline',
])

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
