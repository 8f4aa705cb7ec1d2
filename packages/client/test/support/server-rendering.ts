import { createClient } from '../../src/index.ts'
import '../../src/react.ts'

/** Creates a connection as the module of an application does on a server. Nothing is to keep this process alive. */
const connection = createClient({ url: 'http://127.0.0.1:1' }).connect({ token: () => 'never asked for' })
process.stdout.write(connection.status)
