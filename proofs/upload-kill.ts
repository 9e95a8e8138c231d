import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ServerProcess, UPLOAD_POINTS, type UploadPoint } from '@runwire/test-kit';
import { DataFolder } from './support/data-folder.ts';
import { rawUpload, sendRaw } from './support/multipart-load.ts';
import { expectEqual, expectNumber, type Proof, Shortfall, within } from './support/proof.ts';
import { signed } from './support/signed-form.ts';
import { startServer } from './support/start-server.ts';
import { Strace, type SystemCall } from './support/strace.ts';

const FOLDER = '/app/mnt/kill';
const FILENAME = 'killed.bin';
const FILE_BYTES = 3 * 1024 * 1024;
const WAIT_MS = 60_000;
const SHORT_POINTS: readonly UploadPoint[] = ['upload-bytes.after', 'upload-rename.before', 'upload-rename.after'];
/** From here on a kill finds the new file under its name. */
const THERE = UPLOAD_POINTS.indexOf('upload-rename.after');

/** Resolves to the status, null where the server was gone before it answered. */
async function upload(server: ServerProcess, bytes: Buffer): Promise<number | null> {
  const terms = { folder: FOLDER, filename: FILENAME, contentType: 'application/octet-stream' };
  const { uploadUrl, uploadFields } = await signed(server.api, { ...terms, sizeBytes: bytes.length });
  return sendRaw(server.url, rawUpload(new URL(uploadUrl).pathname, uploadFields, bytes)).catch(() => null);
}

async function content(server: ServerProcess): Promise<Buffer | null> {
  const path = encodeURIComponent(`${FOLDER}/${FILENAME}`);
  const address = `${server.url}/v2/integrations/demo/files/content?path=${path}`;
  const answer = await fetch(address, { headers: server.api.authorization });
  return answer.status === 404 ? null : Buffer.from(await answer.arrayBuffer());
}

/** Drafts, and records about files that are not there. */
function leftOvers(dataDir: string): number {
  const count = (part: string) => {
    const folder = join(dataDir, 'mounts', 'demo', part);
    if (!existsSync(folder)) return 0;
    return readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length;
  };
  return count('drafts') + count('about') - count('files');
}

async function swept(dataDir: string): Promise<void> {
  while (leftOvers(dataDir) > 0) await sleep(50);
}

/** Kills a server on the way of a file; `old`: one of that name was there before. */
async function kill(point: UploadPoint, old: Buffer | null) {
  using folder = new DataFolder();
  const dataDir = folder.path;
  if (old !== null) {
    await using server = await startServer(null, { dataDir });
    expectNumber('status of the first upload', (await upload(server, old)) ?? 0, 204);
  }
  const bytes = randomBytes(FILE_BYTES);
  let status: number | null;
  {
    await using server = await startServer(null, { dataDir, killAt: point });
    status = await upload(server, bytes);
    const signal = await within(`death at ${point}`, WAIT_MS, server.gone);
    expectEqual(`what ended the server at ${point}`, signal, 'SIGKILL');
  }
  const left = leftOvers(dataDir);
  await using server = await startServer(null, { dataDir, limits: { unusedBlobMs: 0, sweepMs: 100 } });
  const found = await content(server);
  const isNew = found?.equals(bytes) === true;
  const isOld = old === null ? found === null : found?.equals(old) === true;
  if (!isNew && !isOld) throw new Shortfall(`${point}: expected a whole file or none, found ${found?.length} bytes.`);
  expectEqual(`whether the new file is there after ${point}`, isNew, UPLOAD_POINTS.indexOf(point) >= THERE);
  if (status !== null) expectEqual(`what was acknowledged at ${point}`, [status, isNew], [204, true]);
  await within(`sweep after ${point}`, WAIT_MS, swept(dataDir));
  expectEqual(`the file after the sweep at ${point}`, (await content(server))?.length, found?.length);
  return { left, isNew, after: leftOvers(dataDir) };
}

/** What the kernel was asked for before the answer, in the order in which it was done. */
async function syncs(fault: string | null): Promise<number> {
  using folder = new DataFolder();
  await using server = await startServer(fault, { dataDir: folder.path });
  // The folder is there: what follows is what every further upload does.
  await upload(server, randomBytes(1000));
  await using strace = await Strace.attach(server.pid);
  expectNumber('status of an upload under strace', (await upload(server, randomBytes(FILE_BYTES))) ?? 0, 204);
  const calls = await strace.calls();
  const place = (what: string, after: number, is: (call: SystemCall) => boolean): SystemCall => {
    const found = calls.find((call) => call.begunAt > after && is(call));
    if (found === undefined) throw new Shortfall(`${what}: expected before the answer, found none.`);
    return found;
  };
  const isSync = ({ name }: SystemCall) => name === 'fsync' || name === 'fdatasync';
  const file = place('sync of the file', -1, (call) => isSync(call) && call.text.includes('/drafts/'));
  const rename = place(
    'rename behind it',
    file.doneAt,
    ({ name, text }) => name.startsWith('rename') && text.includes(FILENAME),
  );
  const names = place(
    'sync of the folder behind that',
    rename.doneAt,
    (call) => isSync(call) && call.text.includes('/files/kill>'),
  );
  place('the answer behind that', names.doneAt, ({ text }) => text.includes('HTTP/1.1 204'));
  const early = calls.filter(({ text, begunAt }) => text.includes('HTTP/1.1 204') && begunAt <= names.doneAt);
  expectNumber('answers before all that', early.length, 0);
  return calls.filter(isSync).length;
}

export const proof: Proof = {
  name: 'upload-kill',
  minutes: 2,
  faults: {
    'plain-writes': /^sync of the file: expected before the answer, found none\.$/m,
  },
  async run({ fault, scale }) {
    const short = scale(true, false);
    const synced = await syncs(fault);
    const points = short ? SHORT_POINTS : UPLOAD_POINTS;
    const sum = { whole: 0, absent: 0, left_over: 0, after_sweep: 0 };
    for (const point of points) {
      for (const old of short ? [randomBytes(1000)] : [null, randomBytes(1000)]) {
        const { left, isNew, after } = await kill(point, old);
        if (isNew) sum.whole += 1;
        else sum.absent += 1;
        sum.left_over += left;
        sum.after_sweep += expectNumber(`what ${point} left after the sweep`, after, 0);
        process.stdout.write(
          `killed at ${point}${old === null ? '' : ', in place of another'}: ${isNew ? 'whole' : 'not there'}\n`,
        );
      }
    }
    // Otherwise nothing was there to be swept.
    if (sum.left_over === 0) throw new Shortfall('what the kills left: expected some, found 0.');
    return { points: points.length, ...sum, syncs: synced };
  },
};
