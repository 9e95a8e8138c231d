import type { ChildAnswer, FromChild, ToChild } from './document-process.ts';
import { DocumentWorker } from './document-worker.ts';
import { Unreadable } from './unreadable.ts';

/**
 * The process that reads documents. Its main thread watches the thread that reads: its time, its memory and the end of
 * the server, after which this process must end too.
 */

/**
 * A terminal or service manager sends these signals to all processes of the server. The server shuts down and then ends
 * this process.
 */
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});

/** A file needs at most about 350 MiB more than the process has before, and the sum must stay below 512 MiB. */
const MAX_KEPT_BYTES = 160 * 1024 * 1024;

let worker: DocumentWorker | null = null;

async function answer({ sizeBytes, contentType, name, limits, pdf }: ToChild): Promise<ChildAnswer> {
  const bytes = await takeBytes(sizeBytes);
  if (worker === null || worker.hasEnded) worker = new DocumentWorker();
  const outcome = await worker.read({ source: { bytes, contentType, name, kind: 'input_file' }, limits, pdf });
  if (outcome instanceof Unreadable) return { type: 'unreadable', message: outcome.message };
  // The server still has the bytes.
  if (outcome.form === 'pdf') return { type: 'pdf', pages: outcome.pages ?? 1 };
  return { type: 'text', mediaType: outcome.mediaType, text: new TextDecoder().decode(outcome.bytes) };
}

const arrived: Buffer[] = [];
let onArrival = () => {};

async function takeBytes(sizeBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(sizeBytes);
  for (let at = 0; at < sizeBytes; ) {
    const chunk = arrived.shift();
    if (chunk === undefined) await new Promise<void>((resolve) => (onArrival = resolve));
    else {
      bytes.set(chunk, at);
      at += chunk.length;
    }
  }
  return bytes;
}

process.stdin.on('data', (chunk: Buffer) => {
  arrived.push(chunk);
  onArrival();
});
process.send?.({ type: 'ready' } satisfies FromChild);
process.on('message', async (task: ToChild) => {
  const message = await answer(task);
  const isSpent = worker?.hasEnded === true || process.memoryUsage.rss() > MAX_KEPT_BYTES;
  process.send?.({ ...message, isSpent } satisfies FromChild);
});
// Exits immediately, because the thread may never end by itself.
process.on('disconnect', () => process.exit());
