// node tls.mjs CERTIFICATE_AND_KEY BACKEND_PORT: TLS in front of the stub; prints its port and ends with its input.
import fs from 'node:fs'
import net from 'node:net'
import tls from 'node:tls'

const [, , path, backend] = process.argv
const pem = fs.readFileSync(path)
const server = tls.createServer({ cert: pem, key: pem, ALPNProtocols: ['http/1.1'] }, client => {
  const stub = net.connect({ port: +backend, host: '127.0.0.1', noDelay: true })
  client.setNoDelay()
  client.pipe(stub).pipe(client)
  client.on('error', () => stub.destroy())
  stub.on('error', () => client.destroy())
})
server.listen(0, '127.0.0.1', () => console.log(server.address().port))
process.stdin.on('end', () => process.exit()).resume()
