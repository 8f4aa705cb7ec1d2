export const folders = {}
