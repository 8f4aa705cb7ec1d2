export { highlightThreads, type HighlightOptions } from './prosemirror/thread-highlights.ts'
export { placeOfRange, rangeOfSelection, selectRange, type TextPlace } from './prosemirror/ranges.ts'
