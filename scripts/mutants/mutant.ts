/** A fault of one line that a programmer could make, and the test that notices it. */
export interface Mutant {
  /** What is wrong with the server or the client that has the fault. */
  name: string
  /** A rule of `docs/spec.md` that the fault breaks. The title of the test cites it. */
  rule: string
  /** The file that has the fault. */
  file: string
  /** The right text. It occurs once in the file. */
  from: string
  /** The faulty text. */
  to: string
  /** The test file that notices the fault. */
  test: string
  /** A part of the titles of the tests that are run. At least one of them notices the fault. */
  title: string
}
