import type { Frame } from './run-types.ts';

/**
 * Reads the events of a stream, until it ends or the signal aborts. An event that was cut off is left out. `onBytes` is
 * called for every piece that arrives, also for comments.
 */
export async function* readFrames(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
  onBytes: () => void,
): AsyncGenerator<Frame> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  const close = () => reader.cancel().catch(() => {});
  signal.addEventListener('abort', close);
  let rest = '';
  let fields: Record<string, string> = {};
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      onBytes();
      const lines = (rest + decoder.decode(value, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (line !== '') {
          // The server writes `name: value`, and a comment as `: `.
          const [name = ''] = line.split(': ', 1);
          fields[name] = line.slice(name.length + 2);
          continue;
        }
        const { id, event, data } = fields;
        fields = {};
        if (id !== undefined && data !== undefined) yield { id: Number(id), event: event ?? null, data };
      }
    }
  } finally {
    // Closes the connection if the caller stops early.
    close();
  }
}

/** Writes an event as the server does: its data is one line. */
export const frameText = ({ id, event, data }: Frame): string =>
  `id: ${id}\n${event === null ? '' : `event: ${event}\n`}data: ${data}\n\n`;
