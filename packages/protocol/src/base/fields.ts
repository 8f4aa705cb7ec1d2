import Type, { type Static, type TSchema } from 'typebox'

/** An id chosen by the caller (spec 0.6): visible, never `.` or `..`. Paths and URLs are common ids of documents. */
export const ClientId = Type.String({
  minLength: 1,
  maxLength: 256,
  pattern: '^(?!\\s*$)(?!\\.{1,2}$)[^\\u0000-\\u001f\\u007f-\\u009f\\ud800-\\udfff]+$',
  'x-invalid': 'must not contain control characters and must not be "." or "..".',
})

/** A notification's id, which clients also use as a key (spec 0.6). */
export const NotificationId = Type.String({
  minLength: 1,
  maxLength: 256,
  pattern: '^[A-Za-z0-9_-]+$',
  'x-invalid': 'may contain only letters, digits, "_" and "-".',
})

/** Items of one batch write (spec 0.7). */
export const batchSize = 500
/** Ids of one filter (spec 0.7). */
export const filterSize = 30

/** Ids that a write addresses: at least one. */
export const ClientIds = Type.Array(ClientId, { minItems: 1, maxItems: batchSize })
/** Ids that narrow a read. */
export const FilterIds = Type.Array(ClientId, { maxItems: filterSize })

export const batch = <T extends TSchema>(item: T) => Type.Array(item, { minItems: 1, maxItems: batchSize })

/** A name shown to people. */
export const Name = Type.String({ maxLength: 1000 })
/** A name that must say something. */
export const FullName = Type.String({
  maxLength: 200,
  pattern: '\\S',
  'x-invalid': 'must not be blank.',
})
/** A body of text. */
export const Text = Type.String({ maxLength: 100_000 })
export const Flag = Type.Boolean()
export const Email = Type.String({ maxLength: 320 })
/** Epoch milliseconds. */
export const Timestamp = Type.Integer()

export const choice = <const T extends readonly string[]>(values: T) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: values })

export const AccessType = choice(['public', 'restricted', 'organizationPrivate'])
export const AccessRole = choice(['viewer', 'editor'])

/** Unix seconds, rounded down; values from 10^12 on are read as milliseconds (spec 0.6). */
export const ExpiresAt = Type.Number({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })

/** A field of v2 that v1 ignores, whatever is in it: the server drops it before it looks at the input. */
export const v2Only = <T extends TSchema>(schema: T & { description?: string }) =>
  Type.Optional({
    ...schema,
    'x-since': 'v2',
    description: [schema.description, 'Ignored under v1.'].filter(Boolean).join(' '),
  })

export const PageSize = Type.Integer({ minimum: 1, maximum: 1000 })
export const PageToken = Type.String({ maxLength: 4096 })

/** An object that keeps the keys it does not name. */
export const open = <T extends TSchema>(schema: T) =>
  Type.Unsafe<Static<T> & Record<string, unknown>>({ ...schema, additionalProperties: true })

/** Any JSON object. */
export const JsonObject = Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true })

export const mapOf = <T extends TSchema>(value: T) =>
  Type.Unsafe<Record<string, Static<T>>>({ type: 'object', additionalProperties: value })

export const optional = Type.Optional
