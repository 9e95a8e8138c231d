import type { Socket } from 'node:net';

/** Two ends of one way through a proxy: neither outlives the other. They stand in `open` for as long as they do. */
export function tie(client: Socket, database: Socket, open: Set<Socket>): void {
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
