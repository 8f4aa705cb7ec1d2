import { parseArgs } from 'node:util'

/** Reads the options of the command line. Ends the process with one sentence if there is one that is not known. */
export const readOptions = ((config) => {
  try {
    return parseArgs(config)
  } catch (error) {
    console.error(`${(error as Error).message.replace(/\.?$/, '.')} Use --help to see the options.`)
    return process.exit(2)
  }
}) as typeof parseArgs

/** The values of an option, separated by commas. Default: all known values. Ends the process if a value is unknown. */
export function knownValues<T extends string>(
  option: string,
  value: string | undefined,
  known: readonly T[],
): readonly T[] {
  const values = value?.split(',') ?? known
  const unknown = values.find((one) => !known.some((name) => name === one))
  if (unknown === undefined) return known.filter((name) => values.includes(name))
  console.error(`${option} does not accept "${unknown}". It accepts: ${known.join(', ')}.`)
  return process.exit(2)
}

/** The whole numbers of an option, separated by commas. Ends the process if a value is something else. */
export function wholeNumbers(option: string, value: string, min: number, max: number): number[] {
  const numbers = value.split(',').map(Number)
  const isAccepted = (number: number) => Number.isInteger(number) && number >= min && number <= max
  if (numbers.every(isAccepted)) return numbers
  console.error(`${option} accepts whole numbers from ${min} to ${max}, but is "${value}".`)
  return process.exit(2)
}

/** The number of an option. Ends the process if the value is something else, negative or too large. */
export function numberUpTo(max: number, option: string, value: string): number {
  const number = Number(value)
  if (value.trim() !== '' && number >= 0 && number <= max) return number
  console.error(`${option} accepts numbers from 0 to ${max}, but is "${value}".`)
  return process.exit(2)
}

/** Shows the help text and ends the process, if `--help` was given. */
export function showHelp(isAsked: boolean, help: string): void {
  if (!isAsked) return
  console.log(help.trim())
  process.exit()
}
