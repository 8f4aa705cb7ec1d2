/** The baseline: forwards every frame unchanged to the other clients of the room. No CRDT, no access control, no storage. */
import { createServer } from 'node:http'
import { WebSocketServer } from 'ws'

const rooms = new Map()
const server = createServer((_request, response) => response.end())
const sockets = new WebSocketServer({ server, perMessageDeflate: false })

sockets.on('connection', (socket, request) => {
  const [name] = request.url.split('?')
  const room = rooms.get(name) ?? new Set()
  rooms.set(name, room.add(socket))
  socket.on('message', (bytes) => {
    for (const other of room) if (other !== socket) other.send(bytes)
  })
  socket.on('close', () => {
    room.delete(socket)
    if (room.size === 0) rooms.delete(name)
  })
})
server.listen(Number(process.env.PORT), process.env.HOST)
