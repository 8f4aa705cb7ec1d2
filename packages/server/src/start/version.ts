/** The version of the packages. `/`, `openapi.json` and the metrics show it. */
export const version = '0.1.0'
