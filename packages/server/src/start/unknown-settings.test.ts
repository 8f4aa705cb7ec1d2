import { expect, test } from 'vitest'
import { unknownSettings } from './unknown-settings.ts'

test('[C2.2] the server does not warn about settings, variables of other programs or dissimilar names in the environment', () => {
  const others = {
    PORT: '1',
    NO_COLOR: '1',
    PGHOST: 'h',
    NODE_ENV: 'production',
    POSTGRES_PASSWORD: 'p',
    TZ: 'UTC',
  }
  expect(unknownSettings(others, {})).toEqual([])
  const usual = {
    PATH: '/bin',
    HOME: '/',
    HOSTNAME: 'h',
    PWD: '/',
    SHELL: 'sh',
    TERM: 'xterm',
    LOGNAME: 'root',
  }
  expect(unknownSettings({}, usual)).toEqual([])
})

test.each([
  ['PROT', 'PORT'],
  ['PORTS', 'PORT'],
  ['port', 'PORT'],
  ['DATADIR', 'DATA_DIR'],
  ['DURABILTY', 'DURABILITY'],
  ['LIMIT_JSON_DEPHT', 'LIMIT_JSON_DEPTH'],
  ['DISPOSABLE_DOMAIN', 'DISPOSABLE_DOMAINS'],
])('[C2] the warning about %s suggests %s', (name, setting) => {
  expect(unknownSettings({ [name]: '' }, {})).toEqual([
    `${name} in .env is not a setting. Did you mean ${setting}?`,
  ])
  expect(unknownSettings({}, { [name]: '' })).toEqual([
    `${name} in the environment is not a setting. Did you mean ${setting}?`,
  ])
})

test('[C2] a warning does not show a line of .env that may be part of a secret', () => {
  expect(unknownSettings({ MIIEvgIBADANBgkq: '=', c2VjcmV0: '=' }, {})).toEqual([
    'A name with other characters than A-Z, 0-9 and _ in .env is not a setting.',
  ])
})
