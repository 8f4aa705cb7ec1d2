/** Names a document within an API key, which is passed beside the ref. */
export interface DocumentRef {
  organizationId: string
  documentId: string
}

/** Names an editor within an API key, which is passed beside the ref. */
export interface EditorRef extends DocumentRef {
  editorId: string
}

/** Identifies a document as a key of a map. Ids may hold any visible character, but no NUL. */
export const documentKey = ({ organizationId, documentId }: DocumentRef): string =>
  `${organizationId}\0${documentId}`

/** Identifies a document of any API key. Also the order in which documents are locked. */
export const tenantDocumentKey = (apiKey: string, document: DocumentRef): string =>
  `${apiKey}\0${documentKey(document)}`
