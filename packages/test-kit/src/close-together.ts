import type { Socket } from 'node:net';

/** Closes both sockets of a proxied connection when either closes. `open` contains them until then. */
export function closeTogether(client: Socket, database: Socket, open: Set<Socket>): void {
  for (const socket of [client, database]) {
    open.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => {
      open.delete(socket);
      client.destroy();
      database.destroy();
    });
  }
}
