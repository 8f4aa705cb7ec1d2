export const apiKeys = {}
