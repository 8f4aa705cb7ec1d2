export const emailConfig = {}
