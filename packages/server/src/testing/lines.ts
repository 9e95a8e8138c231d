import type { Socket } from 'node:net';

/** Calls `onLine` for each line. Only LF ends a line: `readline` also splits at U+2028, which JSON does not escape. */
export function onLines(socket: Socket, onLine: (line: string) => void): void {
  let rest = '';
  socket.setEncoding('utf8');
  socket.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) onLine(line);
  });
}
