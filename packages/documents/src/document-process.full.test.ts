import assert from 'node:assert/strict';
import { ChildProcess } from 'node:child_process';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { pdfOfPages, slowPdf } from '@runwire/test-kit/large-documents.ts';
import { documentReader, getReason, readBytes, toText } from '@runwire/test-kit/read-document.ts';
import { ProcessFailed } from './process-failed.ts';
import { type StartChild, startDocumentChild } from './start-document-child.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** Runs these functions for the first starts and the real one afterwards. */
function startsAfter(...first: readonly StartChild[]): { readonly start: StartChild; count: number } {
  const starts = {
    count: 0,
    start: () => {
      starts.count += 1;
      return (first[starts.count - 1] ?? startDocumentChild)();
    },
  };
  return starts;
}

const error = (code: string) => Object.assign(new Error(`spawn ${code}`), { code });
/** `fork` throws this if the machine has no memory. */
const throws: StartChild = () => {
  throw error('ENOMEM');
};
/** If no file can be opened, `fork` returns a process without pipes and channel that soon emits an error. */
const tells: StartChild = () => {
  const child = new ChildProcess();
  process.nextTick(() => child.emit('error', error('EMFILE')));
  return child;
};
/** Kills the process after it is ready: the file is being sent then, and reading it takes longer. */
const endedBy = (signal: NodeJS.Signals): StartChild => {
  return () =>
    startDocumentChild().once('message', function (this: ChildProcess) {
      this.kill(signal);
    });
};
const longPdf = () => slowPdf(4_000_000);

test('a process keeps no memory of the files that it has read', async () => {
  await using reader = documentReader({ workers: 1 });
  const size = 4 * 1024 * 1024;
  const heldBytes = () => process.memoryUsage().arrayBuffers;
  const before = heldBytes();
  for (let i = 0; i < 12; i += 1) await readBytes(reader, new Uint8Array(size).fill(97));
  // V8 frees the memory of collected buffers in the background, so the number falls some time after a collection.
  for (let tries = 0; tries < 100 && heldBytes() - before >= 3 * size; tries += 1) {
    collectGarbage();
    await setTimeout(100);
  }
  const held = heldBytes() - before;
  assert.ok(held < 3 * size, `${held} bytes are held`);
});

for (const [name, failing] of Object.entries({ throws, tells })) {
  test(`a failed start is retried once, then the file fails without blame (${name})`, async () => {
    const once = startsAfter(failing);
    await using reader = documentReader({ workers: 1 }, once.start);
    assert.match(await toText(reader, pdfOfPages(1)), /Page 1 speaks/);
    assert.equal(once.count, 2);

    const twice = startsAfter(failing, failing);
    await using other = documentReader({ workers: 1 }, twice.start);
    const [first, second] = [readBytes(other, pdfOfPages(1)), toText(other, pdfOfPages(2))];
    await assert.rejects(
      first,
      (reason) => reason instanceof ProcessFailed && /could not be started: spawn E/.test(reason.message),
    );
    assert.match(await second, /Page 2 speaks/);
    assert.equal(twice.count, 3);
  });
}

test('abort and close end the wait for the next start', async () => {
  const reader = documentReader({ workers: 1 }, throws);
  const abort = new AbortController();
  const aborted = readBytes(reader, pdfOfPages(1), { signal: abort.signal });
  abort.abort(new Error('cancelled'));
  await assert.rejects(aborted, /cancelled/);
  const closed = assert.rejects(readBytes(reader, pdfOfPages(1)), /is closed|could not be started/);
  await reader[Symbol.asyncDispose]();
  await closed;
});

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  test(`${signal}, sent to all processes of a server, does not disturb a read`, async () => {
    const starts = startsAfter(endedBy(signal));
    await using reader = documentReader({}, starts.start);
    assert.match(await toText(reader, longPdf()), /\[Page 400\]/);
    assert.equal(starts.count, 1);
  });
}

test('a second process reads a file after a kill; the reason names two kills', async () => {
  const killed = endedBy('SIGKILL');
  await using reader = documentReader({}, startsAfter(killed).start);
  assert.match(await toText(reader, longPdf()), /\[Page 400\]/);
  await using other = documentReader({}, startsAfter(killed, killed).start);
  assert.match(
    await getReason(other, longPdf()),
    /^could not be read: the process that reads documents ended twice \(SIGKILL\)/,
  );
  assert.match(await toText(other, pdfOfPages(1)), /Page 1 speaks/);
});
