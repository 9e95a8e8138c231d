import { once } from 'node:events';
import { connect } from 'node:net';
import { Shortfall } from './proof.ts';

/** A whole request: the file is between head and tail. */
export interface RawUpload {
  readonly head: Buffer;
  readonly file: Buffer;
  readonly tail: Buffer;
}

const BOUNDARY = 'runwire-load-0f6a4c';

export function rawUpload(path: string, fields: Readonly<Record<string, string>>, file: Buffer): RawUpload {
  const parts = Object.entries(fields).map(
    ([name, value]) => `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const opening = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n`;
  const before = Buffer.from(parts.join('') + opening);
  const tail = Buffer.from(`\r\n--${BOUNDARY}--\r\n`);
  const lines = [
    `POST ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    'Connection: close',
    `Content-Type: multipart/form-data; boundary=${BOUNDARY}`,
    `Content-Length: ${before.length + file.length + tail.length}`,
  ];
  return { head: Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), before]), file, tail };
}

/** Sends it over a new connection; resolves to the status. */
export async function sendRaw(url: string, { head, file, tail }: RawUpload): Promise<number> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let output = '';
  socket.on('data', (chunk: Buffer) => {
    output += chunk.toString('latin1');
  });
  const over = once(socket, 'close');
  for (const piece of [head, file, tail]) socket.write(piece);
  await over;
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(output)?.[1]);
  if (Number.isNaN(status))
    throw new Shortfall(`answer to an upload: expected a status, found \`${output.slice(0, 100)}\`.`);
  return status;
}
