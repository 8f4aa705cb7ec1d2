/**
 * The contexts of all sealed values. They name the row and the field, so that a sealed value is invalid in any other. A new
 * kind of sealed value also needs an entry in `commands/rotation/sealed-columns.ts`, which replaces the secret.
 */
export const sealContexts = {
  signingKey: (keyId: string) => `signing_keys/${keyId}`,
  serviceCredential: (apiKey: string, service: string) => `service_configs/${apiKey}/${service}`,
  /** Both secrets of an endpoint have the same context, so the current one can become the previous one as it is. */
  endpointSecret: (apiKey: string, endpointId: string) => `webhook_endpoints/${apiKey}/${endpointId}`,
  storedAnswer: (scope: string, operation: string, key: string) => JSON.stringify([scope, operation, key]),
  eventNames: (namesId: string) => `event_names/${namesId}`,
  loginLink: (email: string) => `login link/${email}`,
}
