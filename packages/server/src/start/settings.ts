import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { type Config, ConfigError, readConfig } from '../config.ts'
import { unknownSettings } from './unknown-settings.ts'

export interface Settings {
  config: Config
  /** One sentence for each name that is not a setting, but looks like one. */
  hints: readonly string[]
}

/** Copies the file .env into the environment. No other code of the server reads the environment. */
export function loadEnvironment(): {
  environment: Readonly<Record<string, string | undefined>>
  hints: readonly string[]
} {
  const file = readEnvFile()
  const hints = unknownSettings(file, process.env)
  // The environment overrides the file. The file is copied into it, because libraries read only the environment.
  for (const [name, value] of Object.entries(file)) process.env[name] ??= value
  return { environment: process.env, hints }
}

/** The settings of the server and of every command. If one is invalid, the error also contains the hints. */
export function readSettings(): Settings {
  const { environment, hints } = loadEnvironment()
  try {
    return { config: readConfig(environment), hints }
  } catch (error) {
    throw error instanceof ConfigError ? new ConfigError([error.message, ...hints].join('\n')) : error
  }
}

/** Reads the settings in the file .env. Without the file there are none. */
function readEnvFile(): Record<string, string | undefined> {
  try {
    return parseEnv(readFileSync('.env', 'utf8'))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return {}
    throw new ConfigError(`.env cannot be read: ${message}.`)
  }
}
