export const apiKeyConfig = {}
