// The backend of an application: it has the credentials of the API key, and issues tokens to its users.
import { readFile, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join, normalize } from 'node:path'
import { createClient } from '@plenum/client/rest'

export interface BackendOptions {
  plenumUrl: string
  dataDir: string
  /** Folder of the built page. */
  pageDir: string
  port: number
}

/** The users of this example. A real application knows its users from their sessions. */
const users: Record<string, { name: string; color: string }> = {
  ada: { name: 'Ada', color: '#7c3aed' },
  bob: { name: 'Bob', color: '#0d9488' },
  vic: { name: 'Vic (viewer)', color: '#b45309' },
}

export interface Backend {
  url: string
  close(): Promise<void>
}

export async function startBackend({ plenumUrl, dataDir, pageDir, port }: BackendOptions): Promise<Backend> {
  const plenum = createClient({ url: plenumUrl, ...(await loadOrCreateCredentials(plenumUrl, dataDir)) })

  const routes: Record<string, (body: Record<string, string>) => Promise<unknown>> = {
    async '/api/token'({ userId = '' }) {
      const user = users[userId]
      if (!user) throw new Error(`There is no user ${userId}.`)
      const { data } = await plenum.auth.generateToken({
        userId,
        userProperties: { ...user, email: `${userId}@example.com` },
        permissions: {
          resources: [
            { type: 'organization', id: 'acme', accessRole: userId === 'vic' ? 'viewer' : 'editor' },
          ],
        },
      })
      const people = Object.fromEntries(Object.entries(users).map(([id, { name }]) => [id, name]))
      return { token: data.token, user: { id: userId, ...user }, people, plenumUrl }
    },
    async '/api/broadcast'({ text = '' }) {
      await plenum.liveState.broadcast({
        organizationId: 'acme',
        documentId: 'welcome',
        liveStateDataId: 'banner',
        data: { text: text.slice(0, 200) },
      })
      return {}
    },
  }

  const handleRequest = async (request: IncomingMessage, response: ServerResponse) => {
    const path = new URL(request.url ?? '/', 'http://host').pathname
    const route = request.method === 'POST' ? routes[path] : undefined
    if (route) {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const result = await route(JSON.parse(Buffer.concat(chunks).toString() || '{}'))
      response.setHeader('content-type', 'application/json').end(JSON.stringify(result))
      return
    }
    const file = join(pageDir, normalize(path === '/' ? '/index.html' : path))
    response.setHeader('content-type', contentTypes[extname(file)] ?? 'application/octet-stream')
    response.end(await readFile(file))
  }

  const server = createServer((request, response) => {
    handleRequest(request, response).catch((error: unknown) => {
      response.statusCode = (error as NodeJS.ErrnoException).code === 'ENOENT' ? 404 : 500
      response.end(String(error))
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, 'localhost', resolve)
  })
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

const contentTypes: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
}

/** Returns the credentials of the API key. The first start creates a workspace, and stores the credentials beside the data. */
async function loadOrCreateCredentials(
  url: string,
  dataDir: string,
): Promise<{ apiKey: string; authToken: string }> {
  const file = join(dataDir, 'credentials.json')
  try {
    return JSON.parse(await readFile(file, 'utf8'))
  } catch {
    const { data: workspace } = await createClient({ url }).workspace.create({
      ownerEmail: 'example@example.com',
      workspaceName: 'Example',
    })
    const owner = createClient({
      url,
      workspaceId: workspace.id,
      workspaceAuthToken: workspace.authToken,
    })
    const [apiKey = ''] = Object.keys(workspace.apiKeyList)
    const { data } = await owner.authTokens.get({ apiKey })
    const created = { apiKey, authToken: data.authTokens[0]?.token ?? '' }
    await writeFile(file, JSON.stringify(created), { mode: 0o600 })
    return created
  }
}
