/** `npm run soak` sets TEST_EFFORT to multiply the rounds of tests that are random or kill a server. */
const effort = Number(process.env.TEST_EFFORT ?? 1)

/** The number of rounds in this run, given the number in `npm test`. */
export const rounds = (inTests: number): number => Math.ceil(inTests * effort)
