import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/* The collector of the contestant `traced`, in its own process: it takes all spans and keeps none. */

const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end());
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('disconnect', () => process.exit());
