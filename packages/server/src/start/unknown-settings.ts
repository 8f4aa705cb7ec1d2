import { settingNames } from '../config.ts'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Names that are not settings, but that other programs read: the PostgreSQL client, Node, Docker Compose and our
 * compose.yaml.
 */
const foreignNames = /^(?:PG[A-Z]+|NODE_\w+|COMPOSE_\w+|POSTGRES_PASSWORD|FORCE_COLOR|TZ)$/

/**
 * Returns one sentence for each name in the .env file that is not a setting, and for each name in the environment that looks
 * like a misspelled setting. The sentences never contain values.
 */
export function unknownSettings(file: Environment, environment: Environment): string[] {
  const settings = settingNames()
  const isUnknown = (name: string) => !settings.includes(name) && !foreignNames.test(name)
  const inFile = Object.keys(file)
    .filter(isUnknown)
    .map((name) => {
      const meant = closest(name, settings)
      if (meant !== undefined) return `${name} in .env is not a setting. Did you mean ${meant}?`
      // A line of a key or certificate may have been parsed as a name, so it is not shown.
      const shown = /^[A-Z][A-Z0-9_]*$/.test(name) ? name : 'A name with other characters than A-Z, 0-9 and _'
      return `${shown} in .env is not a setting.`
    })
  const inEnvironment = Object.keys(environment)
    .filter((name) => isUnknown(name) && !(name in file))
    .flatMap((name) => {
      const meant = closest(name, settings)
      return meant === undefined
        ? []
        : [`${name} in the environment is not a setting. Did you mean ${meant}?`]
    })
  return [...new Set([...inFile, ...inEnvironment])]
}

/** Returns the setting whose name is most similar: with at most one mistake in a short name, two in a longer one. */
function closest(name: string, settings: readonly string[]): string | undefined {
  if (!/^\w+$/.test(name)) return undefined
  const [best] = settings
    .filter((setting) => Math.abs(setting.length - name.length) <= 2)
    .map((setting) => ({ setting, mistakes: mistakesBetween(name.toUpperCase(), setting) }))
    .filter(({ setting, mistakes }) => mistakes <= (setting.length < 6 ? 1 : 2))
    .sort((a, b) => a.mistakes - b.mistakes)
  return best?.setting
}

/** How many letters are wrong, missing, added or swapped with their neighbour. */
function mistakesBetween(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const isSwapped = row > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      current[column] = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1),
        isSwapped ? (beforeLast[column - 2] ?? 0) + 1 : Infinity,
      )
    }
    ;[beforeLast, last] = [last, current]
  }
  return last[b.length] ?? 0
}
