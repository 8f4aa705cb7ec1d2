import { createClient } from '../../src/index.ts'
import '../../src/react.ts'

/** Creates a connection as an application module does on a server. It must not keep this process alive. */
const connection = createClient({ url: 'http://127.0.0.1:1' }).connect({ token: () => 'never asked for' })
process.stdout.write(connection.status)
