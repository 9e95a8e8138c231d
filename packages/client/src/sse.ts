import type { Frame } from './run-types.ts';

/** A proxy may keep the connection open after the last event. */
const MAX_TAIL_MS = 1000;

/**
 * Reads a stream's events, until it ends or the signal aborts. An event that was cut off is left out. `onBytes` is
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
  let isComplete = false;
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
        isComplete = event === 'end';
        if (id !== undefined && data !== undefined) yield { id: Number(id), event: event ?? null, data };
      }
    }
  } finally {
    // Closes the connection if the caller stops early.
    if (isComplete) readToEnd(reader, close);
    else close();
  }
}

/** A browser reports a request as aborted unless its answer is read to its end, which follows the last event. */
async function readToEnd(reader: ReadableStreamDefaultReader<Uint8Array>, close: () => void): Promise<void> {
  const timer = setTimeout(close, MAX_TAIL_MS);
  try {
    while (!(await reader.read()).done);
  } catch {
    // Every event has arrived.
  }
  clearTimeout(timer);
}

/** Writes an event as the server does: its data is one line. */
export const frameText = ({ id, event, data }: Frame): string =>
  `id: ${id}\n${event === null ? '' : `event: ${event}\n`}data: ${data}\n\n`;
