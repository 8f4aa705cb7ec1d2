/**
 * The same text in one piece, for texts that are kept for long. V8 keeps a text that was put together from parts as a tree of
 * the parts, with 32 bytes for each.
 */
export const flatText = (text: string): string => Buffer.from(text).toString()
