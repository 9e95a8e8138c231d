import type { Socket } from 'node:net';

/** Calls back for each line, ended by LF alone: `readline` also ends lines at U+2028, which JSON leaves as it is. */
export function onLines(socket: Socket, onLine: (line: string) => void): void {
  let rest = '';
  socket.setEncoding('utf8');
  socket.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) onLine(line);
  });
}
