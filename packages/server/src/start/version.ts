/** The version of the packages, shown by the documents that the server hands out. */
export const version = '0.1.0'
