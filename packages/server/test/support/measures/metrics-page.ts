import type { TestServer } from '../harness.ts'

export interface Sample {
  name: string
  labels: Record<string, string>
  value: number
}

/** The samples below one `# TYPE` line. */
export interface Family {
  name: string
  help: string
  type: string
  samples: Sample[]
}

const sampleLine = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/
const labelPattern = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\.)*)"(?:,|$)/gy

/** Parses the Prometheus text format, and throws if the text violates it. */
export function parseMetrics(text: string): Family[] {
  if (!text.endsWith('\n')) throw new Error('The last line has no end.')
  const families: Family[] = []
  let help: { name: string; text: string } | undefined
  for (const line of text.split('\n')) {
    const [, keyword, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? []
    if (keyword === 'HELP') help = { name, text: rest }
    else if (keyword === 'TYPE') {
      if (help?.name !== name) throw new Error(`${name} has no HELP before its TYPE.`)
      if (families.some((family) => family.name === name)) throw new Error(`${name} appears twice.`)
      families.push({ name, help: help.text, type: rest, samples: [] })
    } else if (line !== '') families.at(-1)?.samples.push(parseSample(line, families.at(-1)))
  }
  return families
}

function parseSample(line: string, family: Family | undefined): Sample {
  const [, name, labels = '', value] = sampleLine.exec(line) ?? []
  // A value that cannot be computed yet is `Nan`.
  if (name === undefined || (value !== 'Nan' && Number.isNaN(Number(value?.replace('+Inf', 'Infinity'))))) {
    throw new Error(`This is no sample: ${line}`)
  }
  const suffixes = family?.type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']
  if (!suffixes.some((suffix) => name === family?.name + suffix)) {
    throw new Error(`${name} is listed below ${family?.name}.`)
  }
  const found = [...labels.matchAll(labelPattern)]
  if (found.map(([text]) => text).join('') !== labels) throw new Error(`These are no labels: ${labels}`)
  return { name, labels: Object.fromEntries(found.map(([, key, text]) => [key, text])), value: Number(value) }
}

export async function metricsOf({ url }: Pick<TestServer, 'url'>): Promise<Family[]> {
  const response = await fetch(`${url}/metrics`)
  return parseMetrics(await response.text())
}

/** Returns the sum of all samples with this name and these labels; undefined if there are none. */
export async function metric(
  server: Pick<TestServer, 'url'>,
  name: string,
  labels: Record<string, string> = {},
): Promise<number | undefined> {
  const samples = (await metricsOf(server)).flatMap((family) => family.samples)
  const wanted = Object.entries(labels)
  const found = samples.filter(
    (sample) => sample.name === name && wanted.every(([label, value]) => sample.labels[label] === value),
  )
  return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0)
}
