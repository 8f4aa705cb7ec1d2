import { createHash } from 'node:crypto'
import { closeSync, createReadStream, openSync, readSync } from 'node:fs'
import { pipeline, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { CommandError } from '../failure.ts'
import { currentSchema, type ExportEnd, type ExportHeader, formatVersion } from './export-format.ts'

/** Longer lines are refused. A row with bytes of 1 MiB has 1.4 MiB as base64. */
const maxLineBytes = 16 * 1024 * 1024
const lineEnd = 0x0a

/** The lines of the file, without their ends. Not with `node:readline`, which also splits at characters inside of texts. */
export async function* linesOf(file: string): AsyncGenerator<Buffer> {
  let parts: Buffer[] = []
  let length = 0
  for await (const chunk of read(file)) {
    let start = 0
    for (let end = chunk.indexOf(lineEnd); end >= 0; end = chunk.indexOf(lineEnd, start)) {
      yield Buffer.concat([...parts, chunk.subarray(start, end)])
      parts = []
      length = 0
      start = end + 1
    }
    parts.push(chunk.subarray(start))
    length += chunk.length - start
    if (length > maxLineBytes) throw refusal(file, 'a line is too long')
  }
  if (length > 0) yield Buffer.concat(parts)
}

async function* read(file: string): AsyncGenerator<Buffer> {
  const bytes = createReadStream(file)
  const plain: Readable = isCompressed(file) ? pipeline(bytes, createGunzip(), () => {}) : bytes
  try {
    yield* plain as AsyncIterable<Buffer>
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw code?.startsWith('Z_') ? refusal(file, 'it is truncated or damaged') : error
  }
}

function isCompressed(file: string): boolean {
  const start = Buffer.alloc(2)
  const opened = openSync(file, 'r')
  readSync(opened, start)
  closeSync(opened)
  return start.equals(Buffer.of(0x1f, 0x8b))
}

export const refusal = (file: string, reason: string) =>
  new CommandError(`${file} cannot be imported: ${reason}.`)

/** Throws if the line is not a row of the export. `number` counts the lines of the file from 1. */
type RowCheck = (line: Buffer, number: number) => void

/**
 * Reads the whole file. Throws unless it is complete and unchanged, was made with the schema of this version, and has only
 * rows that pass `checkFor(header)`.
 */
export async function checkExport(
  file: string,
  checkFor: (header: ExportHeader) => RowCheck,
): Promise<{ header: ExportHeader; end: ExportEnd; rowCount: number }> {
  const hash = createHash('sha256')
  let header: ExportHeader | undefined
  let checkRow: RowCheck | undefined
  let last: Buffer | undefined
  let lines = 0
  for await (const line of linesOf(file)) {
    if (last) hash.update(last).update('\n')
    if (last && lines > 1) checkRow?.(last, lines)
    header ??= checkHeader(file, line)
    checkRow ??= checkFor(header)
    last = line
    lines++
  }
  const { end } = (last && parseLine<{ end?: ExportEnd }>(last)) ?? {}
  if (!header || !end) throw refusal(file, 'it is truncated')
  const rowCount = lines - 2
  const expected = Object.values(end.rows).reduce((sum, rows) => sum + rows, 0)
  if (end.sha256 !== hash.digest('hex') || rowCount !== expected)
    throw refusal(file, 'it was changed or damaged')
  return { header, end, rowCount }
}

function checkHeader(file: string, line: Buffer): ExportHeader {
  const header = parseLine<ExportHeader>(line)
  if (header?.format !== 'plenum-export') throw refusal(file, 'it is not an export of Plenum')
  if (header.version !== formatVersion)
    throw refusal(
      file,
      `its format has the version ${header.version}, and this version of Plenum knows ${formatVersion}`,
    )
  if (header.schema !== currentSchema) {
    throw refusal(
      file,
      `Plenum ${header.plenum} made it with the schema ${header.schema}, and this version has ${currentSchema}. Export it again with the same version`,
    )
  }
  return header
}

/** Undefined: the line is not JSON. */
export function parseLine<T>(line: Buffer): T | undefined {
  try {
    return JSON.parse(line.toString()) as T
  } catch {
    return undefined
  }
}
