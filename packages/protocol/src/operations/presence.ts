export const presence = {}
