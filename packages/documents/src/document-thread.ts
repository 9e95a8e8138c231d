import { parentPort } from 'node:worker_threads';
import { convert } from './convert.ts';
import type { FromThread, ThreadTask } from './document-worker.ts';
import { Unreadable } from './unreadable.ts';

const send = (message: FromThread, transfer: ArrayBuffer[] = []) => parentPort?.postMessage(message, transfer);

parentPort?.on('message', async ({ source, limits, pdf }: ThreadTask) => {
  try {
    const file = await convert({ ...source, limits, pdf, wholePart: (part) => send({ type: 'part', part }) });
    send({ type: 'read', file }, [file.bytes.buffer]);
  } catch (error) {
    send({ type: 'unreadable', message: error instanceof Unreadable ? error.message : toMessage(error) });
  }
});

/** The message for an error of a library: the file is the cause. */
const toMessage = (error: unknown) =>
  error instanceof RangeError ? 'is too complex: it is nested too deeply' : 'is damaged: it cannot be read';
