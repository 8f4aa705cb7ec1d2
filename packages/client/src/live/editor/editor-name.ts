/**
 * Returns the name of an editor for y-websocket and the Hocuspocus provider. Percent-encodes the ids, because an id may
 * contain any character, such as a slash.
 */
export const editorName = (organizationId: string, documentId: string, editorId: string): string =>
  [organizationId, documentId, editorId].map(encodeURIComponent).join('/')
