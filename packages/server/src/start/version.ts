/** The version of the server. `/`, `openapi.json` and the metrics show it. */
export const version = '0.1.0'
