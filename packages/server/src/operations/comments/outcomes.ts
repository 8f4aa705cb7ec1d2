/** The outcome for each comment, by its id. */
export const commentOutcomes = (ids: readonly number[], succeeded: ReadonlySet<number>, done: string) =>
  Object.fromEntries(
    ids.map((id) => {
      const success = succeeded.has(id)
      return [String(id), { success, id, message: success ? done : 'Not found' }]
    }),
  )
