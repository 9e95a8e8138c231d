import { randomBytes } from 'node:crypto';
import { readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  FILE_POINTS,
  Rig,
  type ServerProcess,
  UPLOAD_POINTS,
  type UploadPoint,
  type WaitPoint,
} from '@runwire/test-kit';
import { count, plantedFault, scale } from '@runwire/test-kit/scale.ts';
import { addTo, expectAtLeast, expectEqual, Shortfall, until, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import { askStore } from './support/ask-store.ts';
import { attachStrace, type SystemCall } from './support/strace.ts';
import { sendForm, signing } from './support/uploads.ts';

const FOLDER = '/app/mnt/kill';
const FILENAME = 'killed.bin';
const FILE_BYTES = 3 * 1024 * 1024;
type Point = UploadPoint | WaitPoint;
const SHORT_POINTS: readonly Point[] = ['upload-bytes.after', 'files.before-commit', 'files.after-commit'];
/** After a kill at these points the new file is stored. */
const COMMITTED: readonly Point[] = ['files.after-commit', 'upload-answer.before', 'upload-answer.after'];

/** Resolves to the status, or to 0 if the server died before it answered. */
async function upload({ api }: ServerProcess, bytes: Buffer): Promise<number> {
  const terms = signing(bytes.length, { folder: FOLDER, filename: FILENAME });
  const { body } = await api.post('/create_agency_upload', terms);
  return sendForm(body, bytes).catch(() => 0);
}

async function content({ api, url }: ServerProcess): Promise<Buffer | null> {
  const path = encodeURIComponent(`${FOLDER}/${FILENAME}`);
  const answer = await fetch(`${url}/v2/integrations/demo/files/content?path=${path}`, { headers: api.authorization });
  return answer.status === 404 ? null : Buffer.from(await answer.arrayBuffer());
}

const DAYS_MS = 2 * 86_400_000;

/** Counts drafts and blobs that no file refers to. Makes them so old that the next sweep deletes them. */
async function leftovers({ dataDir }: Rig): Promise<number> {
  const known = new Set(
    (await askStore(dataDir, 'select blob_key from files where freed_at is null')).map((row) => String(row.blob_key)),
  );
  const left = readdirSync(join(dataDir, 'blobs'), { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && entry.name !== 'installation' && !known.has(entry.name),
  );
  const longAgo = new Date(Date.now() - DAYS_MS);
  for (const { parentPath, name } of left) {
    try {
      utimesSync(join(parentPath, name), longAgo, longAgo);
    } catch {
      // A sweep was faster.
    }
  }
  return left.length;
}

/** Kills a server at a point of an upload; `old` is a file of that name that was stored before. */
async function kill(point: Point, old: Buffer | null) {
  await using rig = await Rig.open();
  if (old !== null) {
    const server = await rig.add();
    expectEqual('status of the first upload', await upload(server, old), 204);
    await server.kill();
  }
  const bytes = randomBytes(FILE_BYTES);
  const doomed = await rig.add({ killAt: point });
  const status = await upload(doomed, bytes);
  expectEqual(`signal at ${point}`, await within(`death at ${point}`, WAIT_MS, doomed.gone), 'SIGKILL');
  const left = await leftovers(rig);
  const server = await rig.add({ limits: { unusedBlobMs: 0, sweepMs: 100 } });
  const found = await content(server);
  const isNew = found?.equals(bytes) === true;
  const isOld = old === null ? found === null : found?.equals(old) === true;
  if (!isNew && !isOld) throw new Shortfall(`${point}: expected a whole file or none, found ${found?.length} bytes.`);
  expectEqual(`whether the new file is stored after ${point}`, isNew, COMMITTED.includes(point));
  if (status !== 0) expectEqual(`what was acknowledged at ${point}`, [status, isNew], [204, true]);
  await until(`sweep after ${point}`, async () => (await leftovers(rig)) === 0);
  expectEqual(`the file after the sweep at ${point}`, (await content(server))?.length, found?.length);
  return { whole: Number(isNew), absent: Number(!isNew), left_over: left, after_sweep: await leftovers(rig) };
}

const isSync = ({ name }: SystemCall) => name === 'fsync' || name === 'fdatasync';

/** The system calls that the server must have made before its answer, in this order. */
const CALLS: readonly [what: string, is: (call: SystemCall) => boolean][] = [
  ['sync of the file', (call) => isSync(call) && call.text.includes('/drafts/')],
  ['rename after it', ({ name, text }) => name.startsWith('rename') && text.includes('/drafts/')],
  ['sync of the folder after that', (call) => isSync(call) && /\/blobs\/[0-9a-f]{2}>/.test(call.text)],
  ['sync of the database after that', (call) => isSync(call) && call.text.includes('runwire.db-wal')],
  ['the answer after that', ({ text }) => text.includes('HTTP/1.1 204')],
];

/** Watches one upload by strace; resolves to the number of syncs. */
async function syncs(fault: string | null): Promise<number> {
  await using rig = await Rig.start({ fault });
  // The first upload creates the folder, so the traced one does the same as every further upload.
  await upload(rig.server(), randomBytes(1000));
  await using strace = await attachStrace(rig.server().pid);
  expectEqual('status of an upload under strace', await upload(rig.server(), randomBytes(FILE_BYTES)), 204);
  const calls = await strace.calls();
  let doneAt = -1;
  for (const [what, is] of CALLS) {
    const found = calls.find((call) => call.begunAt > doneAt && is(call));
    if (found === undefined) throw new Shortfall(`${what}: expected before the answer, found none.`);
    if (what.startsWith('the answer')) expectEqual('first answer', found, calls.find(is));
    ({ doneAt } = found);
  }
  return expectAtLeast('syncs', calls.filter(isSync).length, 2);
}

test('an upload is complete or absent after a kill', async () => {
  const fault = plantedFault();
  const synced = await syncs(fault);
  const points = scale(SHORT_POINTS, [...UPLOAD_POINTS, ...FILE_POINTS]);
  const sum = { whole: 0, absent: 0, left_over: 0, after_sweep: 0 };
  for (const point of points) {
    for (const old of scale([randomBytes(1000)], [null, randomBytes(1000)])) addTo(sum, await kill(point, old));
  }
  expectAtLeast('leftovers of the kills', sum.left_over, 1);
  count({ points: points.length, ...sum, syncs: synced });
});
