/** Cuts a long text. Does not leave half of a character that consists of two code units. */
export const cutText = (text: string, maxCharacters: number): string =>
  text.length <= maxCharacters ? text : `${text.slice(0, maxCharacters - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
