/** Does not use `crypto.randomUUID`, which is missing in pages that were loaded over plain HTTP. */
export const randomIdempotencyKey = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  )
