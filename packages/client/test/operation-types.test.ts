import { expect, expectTypeOf, test } from 'vitest'
import type { Family, Input, Operation, Operations, Output } from '@plenum/protocol'
import type { Client, CommentAnnotation, User } from '../src/rest.ts'

/** The named keys of an object type, without its index signature. */
type NamedKeys<T> = keyof { [K in keyof T as string extends K ? never : K]: T[K] } & keyof T

/** Makes every field required, so types that differ only by an optional field are different. */
type Strict<T> = unknown extends T
  ? T
  : T extends readonly (infer Item)[]
    ? Strict<Item>[]
    : T extends object
      ? {
          fields: { [K in NamedKeys<T>]-?: Strict<T[K]> }
          rest: string extends keyof T ? Strict<T[string]> : never
        }
      : T

type IsMutual<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false
type IsSame<A, B> = IsMutual<A, B> extends true ? IsMutual<Strict<A>, Strict<B>> : false

type Method<F extends Family, V extends keyof Operations[F]> = V extends keyof Client[F]
  ? Extract<Client[F][V], (input: never) => Promise<{ data: unknown }>>
  : never

/** The names of the parts of an operation, input or output, whose types differ. */
type DifferenceOf<F extends Family, V extends keyof Operations[F]> =
  | (IsSame<Input<Operations[F][V] & Operation>, NonNullable<Parameters<Method<F, V>>[0]>> extends true
      ? never
      : `${F}.${V & string}: input`)
  | (IsSame<Output<Operations[F][V] & Operation>, Awaited<ReturnType<Method<F, V>>>['data']> extends true
      ? never
      : `${F}.${V & string}: output`)

type Differences = {
  [F in Family]: { [V in keyof Operations[F]]: DifferenceOf<F, V> }[keyof Operations[F]]
}[Family]

test('[K14] the client types accept the same values as the schemas of the operation table', () => {
  // The compiler checks this, and names the operations that differ. An error here: run `npm run derive`.
  const differences: { [D in Differences]: never } = {}
  expect(differences).toEqual({})
  expectTypeOf<{ [F in Family]: keyof Client[F] }>().toEqualTypeOf<{ [F in Family]: keyof Operations[F] }>()
  // The comparison finds differences.
  expectTypeOf<IsSame<{ a?: string }, { a?: string; b?: string }>>().toEqualTypeOf<false>()
  expectTypeOf<IsSame<{ a: { b: string }[] }, { a: { b: number }[] }>>().toEqualTypeOf<false>()
  expectTypeOf<IsSame<{ a: string }, { a?: string }>>().toEqualTypeOf<false>()
})

test('[K14.1] the type of a list follows groupByDocumentId, and a document that was read has documentId', () => {
  // Only the compiler runs it.
  const read = (client: Client, groupByDocumentId: boolean) => {
    const { users, commentAnnotations, documents } = client
    const one = { organizationId: 'o' }
    return {
      users: users.get(one),
      notGrouped: users.get({ ...one, groupByDocumentId: false }),
      usersByDocument: users.get({ ...one, allDocuments: true, groupByDocumentId: true }),
      unknown: users.get({ ...one, groupByDocumentId }),
      annotations: commentAnnotations.get(one),
      annotationsByDocument: commentAnnotations.get({ ...one, groupByDocumentId: true }),
      documents: documents.get(one),
    }
  }
  type Data = { [K in keyof ReturnType<typeof read>]: Awaited<ReturnType<typeof read>[K]>['data'] }
  expectTypeOf<Data['users']>().toEqualTypeOf<User[]>()
  expectTypeOf<Data['notGrouped']>().toEqualTypeOf<User[]>()
  expectTypeOf<Data['usersByDocument']>().toEqualTypeOf<Record<string, User[]>>()
  expectTypeOf<Data['unknown']>().toEqualTypeOf<User[] | Record<string, User[]>>()
  expectTypeOf<Data['annotations']>().toEqualTypeOf<(CommentAnnotation | null)[]>()
  expectTypeOf<Data['annotationsByDocument']>().toEqualTypeOf<Record<string, CommentAnnotation[]>>()
  expectTypeOf<Data['documents'][number]['documentId']>().toEqualTypeOf<string>()
  expect(read).toBeTypeOf('function')
})
