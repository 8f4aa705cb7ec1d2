export const userGroups = {}
