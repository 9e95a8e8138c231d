import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { endlessPdf, pdfOfPages } from '@runwire/test-kit/large-documents.ts';

/* Needs its own process: it records which modules are loaded, and looks for child processes. */
const loaded: string[] = [];
registerHooks({
  resolve(specifier, context, next) {
    loaded.push(specifier);
    return next(specifier, context);
  },
});
// Imported after the hooks, so that they record what it loads.
const { documentReader, readBytes, toText } = await import('@runwire/test-kit/read-document.ts');
const { Unreadable } = await import('./unreadable.ts');

/** The test looks up processes in /proc. */
const needsProc = { skip: existsSync('/proc/self/stat') ? false : 'there is no /proc' };

function listChildren(parent: number): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && getParent(pid) === parent);
}

/** Returns null if the process has ended, even if its exit status was not collected. */
function getParent(pid: number): number | null {
  try {
    const [state, parent] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return state === 'Z' ? null : Number(parent);
  } catch {
    return null;
  }
}

async function until<T>(find: () => Promise<T | undefined>): Promise<T> {
  for (const start = Date.now(); Date.now() - start < 60_000; await wait(50)) {
    const found = await find();
    if (found !== undefined) return found;
  }
  throw new Error('It did not come in time.');
}

/** The process that reads documents. */
const readingProcess = (parent: number) => until(async () => listChildren(parent)[0]);
/** The process has used 1.5 s of CPU, which is more than its start needs. */
const isReading = (pid: number) =>
  until(async () => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return Number(fields[11]) + Number(fields[12]) > 150 ? true : undefined;
  });
const hasEnded = (pid: number) => until(async () => (getParent(pid) === null ? true : undefined));

test('the server process never loads a library that reads documents', async () => {
  await using reader = documentReader();
  assert.match(await toText(reader, pdfOfPages(1)), /Page 1 speaks/);
  assert.ok(loaded.some((name) => name.endsWith('document-process.ts')));
  assert.deepEqual(
    loaded.filter((name) => /unpdf|mammoth|htmlparser2/.test(name)),
    [],
  );
});

test('an abort ends the current read and removes a waiting one, with its reason', needsProc, async () => {
  await using reader = documentReader({ workers: 1 });
  const [running, queued] = [new AbortController(), new AbortController()];
  const endless = readBytes(reader, endlessPdf(), { signal: running.signal });
  const waiting = readBytes(reader, pdfOfPages(1), { signal: queued.signal });
  const last = toText(reader, pdfOfPages(2));
  queued.abort(new Error('not wanted'));
  await assert.rejects(waiting, /not wanted/);
  const pid = await readingProcess(process.pid);
  running.abort(new Error('cancelled'));
  await assert.rejects(endless, /cancelled/);
  assert.match(await last, /Page 2 speaks/);
  await hasEnded(pid);
  await assert.rejects(readBytes(reader, pdfOfPages(1), { signal: AbortSignal.abort(new Error('late')) }), /late/);
});

test('a dying process fails only its own file and is replaced', needsProc, async () => {
  await using reader = documentReader({ workers: 1 });
  assert.match(await toText(reader, pdfOfPages(1)), /Page 1 speaks/);
  const endless = readBytes(reader, endlessPdf());
  const next = toText(reader, pdfOfPages(3));
  process.kill(await readingProcess(process.pid), 'SIGABRT');
  await assert.rejects(endless, (error) => error instanceof Unreadable && /^is too complex/.test(error.message));
  assert.match(await next, /Page 3 speaks/);
});

test('owners take turns, whatever number of files each one attaches', async () => {
  await using reader = documentReader({ workers: 1 });
  const order: string[] = [];
  const read = (ownerId: string) => toText(reader, pdfOfPages(1), { ownerId }).then(() => order.push(ownerId));
  await Promise.all([read('many'), read('many'), read('many'), read('many'), read('one')]);
  assert.deepEqual(order, ['many', 'many', 'one', 'many', 'many']);
});

test('closing refuses current and waiting files without blaming them', async () => {
  const reader = documentReader({ workers: 1 });
  const both = [readBytes(reader, endlessPdf()), readBytes(reader, pdfOfPages(1))];
  const settled = Promise.allSettled(both);
  await reader[Symbol.asyncDispose]();
  await reader[Symbol.asyncDispose]();
  for (const outcome of await settled) {
    assert.ok(outcome.status === 'rejected');
    assert.ok(!(outcome.reason instanceof Unreadable), String(outcome.reason));
    assert.match(String(outcome.reason), /is closed/);
  }
  await assert.rejects(readBytes(reader, pdfOfPages(1)), /is closed/);
});

test('a killed process leaves no reader; an idle reader keeps no process alive', needsProc, async () => {
  const script = (body: string) => [
    '-C',
    'runwire',
    '--input-type=module-typescript',
    '-e',
    `import { endlessPdf, pdfOfPages } from '${new URL('../../test-kit/src/large-documents.ts', import.meta.url)}';
     import { documentReader, readBytes } from '${new URL('../../test-kit/src/read-document.ts', import.meta.url)}';
     const reader = documentReader({ conversionMs: 600_000, characters: 1e9 }); ${body}`,
  ];
  const killed = spawn(process.execPath, script('await readBytes(reader, endlessPdf());'), { stdio: 'ignore' });
  const reading = await readingProcess(killed.pid ?? 0);
  await isReading(reading);
  killed.kill('SIGKILL');
  await hasEnded(reading);
  await promisify(execFile)(process.execPath, script('await readBytes(reader, pdfOfPages(1));'), { timeout: 25_000 });
});
