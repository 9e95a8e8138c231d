import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { GatheringSocket } from './gathering-socket.ts';

type Batch = readonly { readonly chunk: Buffer }[];

/** Records what is handed to the kernel, one entry per write. */
class WatchedSocket extends GatheringSocket {
  readonly handed: string[] = [];

  // The stream calls these hooks once for each write to the kernel.
  override _writev(batch: never, done: () => void): void {
    this.handed.push((batch as Batch).map(({ chunk }) => chunk.toString()).join(''));
    super._writev?.(batch, done);
  }

  override _write(bytes: Buffer, encoding: BufferEncoding, done: () => void): void {
    this.handed.push(bytes.toString());
    super._write(bytes, encoding, done);
  }
}

test('statements of one turn leave in one write, in order, also before an end', async () => {
  let heard = '';
  const server = createServer((socket: Socket) => {
    socket.on('data', (bytes) => {
      heard += bytes.toString();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = new WatchedSocket();
  socket.connect((server.address() as AddressInfo).port, '127.0.0.1');
  await once(socket, 'connect');

  for (const word of ['one', 'two']) {
    // The driver does this for each statement.
    socket.cork();
    socket.write(Buffer.from(`${word}.`));
    socket.write(Buffer.from('sync '));
    socket.uncork();
  }
  await new Promise(setImmediate);
  assert.deepEqual(socket.handed, ['one.sync two.sync ']);

  const closed = once(server, 'close');
  socket.end(Buffer.from('commit'));
  server.close();
  await closed;
  assert.equal(heard, 'one.sync two.sync commit');
  assert.equal(socket.handed.length, 2);
});
