import { utimesSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ApiClient,
  Rig,
  type StoreName,
  UPLOAD_POINTS,
  type UploadPoint,
  type WaitPoint,
} from '@runwire/test-kit';
import { CHANGES_VARIABLE, type StagedChanges } from '@runwire/test-kit/faults/staged-changes.ts';
import { count, plantedFault, scale } from '@runwire/test-kit/scale.ts';
import {
  addTo,
  expectAtLeast,
  expectAtMost,
  expectEqual,
  Shortfall,
  until,
  WAIT_MS,
  within,
} from '@runwire/test-kit/shortfall.ts';
import { askStore } from './support/ask-store.ts';
import {
  compare,
  expectSwept,
  type FilePlace,
  filesIn,
  getDrafts,
  INTEGRATION,
  keysIn,
  SWEEP_NOW,
} from './support/file-checks.ts';
import { inLanes } from './support/lanes.ts';
import { missingService } from './support/services.ts';
import { download, sendForm, signing, upload } from './support/uploads.ts';

/*
 * A server makes 50 changes to files in one transaction and dies by SIGKILL on the way. The next server must show all of
 * them or none, and its sweeps must leave one blob for each file. The same for a server that deletes a large folder. Then
 * many callers sign and send concurrently against a quota that fits only some of them.
 */

const CHANGES = 50;
const REPLACED = 15;
/** The sweeps of drafts and spools wait a day. */
const LONG_AGO = new Date(Date.now() - 2 * 86_400_000);
const QUOTA_BYTES = 100_000;
const UPLOADS = 200;
/** More than one statement deletes. */
const MANY = 45_000;
const STORED_BYTES = 'select coalesce(sum(size_bytes), 0) as bytes from files where freed_at is null';
/** Each lane has one server and asks it from here: two cores are busy. */
const LANES = 2;

type Contents = ReadonlyMap<string, string>;

interface Setting {
  readonly store: StoreName;
  readonly place: FilePlace;
}

interface Kill {
  readonly at?: WaitPoint | UploadPoint;
  /** The point is reached once for each file. The server dies in the middle. */
  readonly time?: number;
  readonly writes?: number;
  readonly isCommitted: boolean;
}

/** Half of these paths exist, and each round exchanges both halves. Two files become folders, and the reverse. */
const HALVES: readonly [readonly string[], readonly string[]] = [
  ['flip/a', 'flip/c/d', ...Array.from({ length: 15 }, (_, n) => `half/${n}.txt`)],
  ['flip/a/b', 'flip/c', ...Array.from({ length: 16 }, (_, n) => `other half/ä ${n}`)],
];
const KEPT = ['kept/1', 'half/kept'];
const toText = (path: string, round: number) => `${path} of round ${round}\n`.repeat(1 + (path.length % 7));

/** The files before the first round. */
const FIRST: Contents = new Map(
  [...KEPT, ...Array.from({ length: REPLACED }, (_, n) => `replaced/${n}`), ...HALVES[0]].map((path) => [
    path,
    toText(path, 0),
  ]),
);

function nextRound(files: Contents, round: number) {
  const flips = HALVES.flat();
  const changes: [string, string | null][] = flips.filter((path) => files.has(path)).map((path) => [path, null]);
  const put = [...files.keys()].filter((path) => path.startsWith('replaced/'));
  for (const path of [...put, ...flips.filter((path) => !files.has(path))]) changes.push([path, toText(path, round)]);
  const after = new Map(files);
  for (const [path, text] of changes) {
    if (text === null) after.delete(path);
    else after.set(path, text);
  }
  expectEqual('changes in one transaction', changes.length, CHANGES);
  return { changes, after };
}

const asJson = (files: Contents) => JSON.stringify([...files].toSorted(([a], [b]) => (a < b ? -1 : 1)));

/** Everything that a caller sees below the mount. */
async function listFiles(api: ApiClient, folder = '/app/mnt', found = new Map<string, string>()): Promise<Contents> {
  const query = new URLSearchParams({ folder, limit: '200' });
  const { body } = await api.get(`/v2/integrations/${INTEGRATION}/files?${query}`);
  for (const { kind, path } of body.items) {
    if (kind === 'folder') await listFiles(api, path, found);
    else found.set(path.slice('/app/mnt/'.length), await (await download(api, path, INTEGRATION)).text());
  }
  return found;
}

/** An installation whose servers die one after the other. */
class Installation implements AsyncDisposable {
  readonly rig: Rig;
  readonly #bucket: string | null;
  files = FIRST;

  private constructor(rig: Rig, bucket: string | null) {
    this.rig = rig;
    this.#bucket = bucket;
  }

  static async open({ store, place }: Setting): Promise<Installation> {
    const env = await filesIn(place, 'through');
    const rig = await Rig.open({ store, env, scripted: false });
    const installation = new Installation(rig, env.S3_BUCKET ?? null);
    const { api } = await rig.add();
    await rig.prepare({ apiIntegrationId: INTEGRATION });
    for (const [path, text] of FIRST) {
      const [filename = '', ...folders] = path.split('/').toReversed();
      const folder = ['/app/mnt', ...folders.toReversed()].join('/');
      await upload(api, text, { apiIntegrationId: INTEGRATION, folder, filename });
    }
    await installation.stop();
    return installation;
  }

  async stop(): Promise<void> {
    await Promise.all(this.rig.servers.map((server) => server.kill()));
    this.rig.servers.length = 0;
  }

  compare = () => compare(this.rig, this.#bucket);
  drafts = () => getDrafts(this.rig, this.#bucket);

  [Symbol.asyncDispose] = () => this.rig[Symbol.asyncDispose]();
}

/** Makes a round's changes, and kills the server on the way or, if it dies in a sweep, afterwards. */
async function die({ rig }: Installation, kill: Kill, changes: StagedChanges['changes'], fault: string | null) {
  const { at, time = 1, writes = null } = kill;
  const isSweep = at?.startsWith('sweep.') === true;
  const staged: StagedChanges = { integrationId: INTEGRATION, changes, killAfterWrites: writes };
  const doomed = await rig.add({
    fault: fault ?? 'change-files',
    env: { [CHANGES_VARIABLE]: JSON.stringify(staged) },
    ...(at === undefined || isSweep ? {} : { killAt: at, killAfter: time }),
  });
  const armedAt = Date.now();
  doomed.arm();
  if (isSweep) {
    const query = `select 1 from files where modified_at >= ${armedAt}`;
    await until('commit of the changes', async () => (await askStore(rig.dataDir, query)).length > 0);
    await doomed.kill();
    rig.servers.length = 0;
    // The first sweep can be before or after the server reports that it is ready.
    const sweeper = await rig.add({ limits: SWEEP_NOW, killAt: at }).catch(() => null);
    if (sweeper !== null) expectEqual('signal', await within('death in the sweep', WAIT_MS, sweeper.gone), 'SIGKILL');
  } else {
    expectEqual('signal', await within('death of the server', WAIT_MS, doomed.gone), 'SIGKILL');
  }
  rig.servers.length = 0;
}

async function killOnce(installation: Installation, kill: Kill, round: number, fault: string | null) {
  const { rig, files: before } = installation;
  const { changes, after } = nextRound(before, round);
  await die(installation, kill, changes, fault);
  const atDeath = await installation.compare();
  expectEqual('rows without their blob', atDeath.rowsWithoutBlob, 0);
  for (const draft of installation.drafts()) utimesSync(draft, LONG_AGO, LONG_AGO);

  const { api } = await rig.add({ limits: SWEEP_NOW });
  const found = await listFiles(api);
  const isAfter = asJson(found) === asJson(after);
  if (!isAfter && asJson(found) !== asJson(before)) {
    const made = changes.filter(([path, text]) => (found.get(path) ?? null) === text).length;
    throw new Shortfall(`changes that are visible: expected ${CHANGES} or 0, found ${made}.`);
  }
  expectEqual('whether the changes are visible', isAfter, kill.isCommitted);
  await expectSwept(installation.compare);
  expectEqual('files after the sweep', asJson(await listFiles(api)), asJson(found));
  await installation.stop();
  installation.files = found;
  return { all: Number(isAfter), none: Number(!isAfter), left_over: atDeath.leftovers };
}

const BLOB_POINTS = UPLOAD_POINTS.filter((point) => !point.startsWith('upload-answer'));
/** S3 has no folders and no renames. */
const S3_POINTS = BLOB_POINTS.filter((point) => /^upload-(bytes|sync)\./.test(point));

function countKills(place: FilePlace, isShort: boolean): [label: string, kill: Kill][] {
  const blobs = (place === 'disk' ? BLOB_POINTS : S3_POINTS).map((at): Kill => ({ at, time: 17, isCommitted: false }));
  const commits: Kill[] = [
    { writes: 2, isCommitted: false },
    { at: 'files.before-commit', isCommitted: false },
    { at: 'files.after-commit', isCommitted: true },
  ];
  const others: Kill[] = [
    { writes: 1, isCommitted: false },
    { writes: 4, isCommitted: false },
    { at: 'sweep.before-commit', isCommitted: true },
    { at: 'sweep.after-commit', isCommitted: true },
  ];
  const kills = isShort ? [...blobs.slice(-1), ...commits] : [...blobs, ...commits, ...others];
  return kills.map((kill) => [kill.at ?? `write ${kill.writes}`, kill]);
}

async function killEverywhere({ store, place }: Setting, isShort: boolean, fault: string | null) {
  await using installation = await Installation.open({ store, place });
  const sum = { kills: 0, all: 0, none: 0, left_over: 0 };
  for (const [round, [label, kill]] of countKills(place, isShort).entries()) {
    const counts = await killOnce(installation, kill, round + 1, fault).catch((error) => {
      throw error instanceof Shortfall ? new Shortfall(`${label}: ${error.message}`) : error;
    });
    addTo(sum, { ...counts, kills: 1 });
  }
  return sum;
}

/** A server dies while it deletes a folder with many files. Their rows are written directly and have no blobs. */
async function killInFolder(store: StoreName) {
  await using rig = await Rig.open({ store, scripted: false });
  await (await rig.add()).api.post('/v2/integrations', { apiIntegrationId: INTEGRATION });
  const columns = 'integration_id, path, blob_key, size_bytes, etag, content_type, modified_at';
  await askStore(
    rig.dataDir,
    `insert into files (${columns}) with recursive n(i) as (select 1 union all select i + 1 from n where i < ${MANY})
     select '${INTEGRATION}', '\u0001many\u0001' || i, 'blob ' || i, 1, '', '', 0 from n`,
  );
  const stop = async () => {
    await Promise.all(rig.servers.map((server) => server.kill()));
    rig.servers.length = 0;
  };
  await stop();
  const kills = [
    ['files.before-commit', MANY],
    ['files.after-commit', 0],
  ] as const;
  for (const [at, left] of kills) {
    // The first transaction looks for a file with the folder's name.
    const doomed = await rig.add({ killAt: at, killAfter: 2 });
    const query = new URLSearchParams({ path: '/app/mnt/many', recursive: 'true' });
    const answer = doomed.api.delete(`/v2/integrations/${INTEGRATION}/files?${query}`).catch(() => null);
    expectEqual('signal', await within('death of the server', WAIT_MS, doomed.gone), 'SIGKILL');
    expectEqual('answer', await answer, null);
    await stop();
    const [row] = await askStore(rig.dataDir, 'select count(*) as files from files where freed_at is null');
    expectEqual(`${store}, ${at}: files of the deleted folder`, Number(row?.files), left);
  }
  return { kills: 2, all: 1, none: 1 };
}

interface QuotaRefusal {
  readonly filename: string;
  readonly size: number;
  readonly body: { readonly code: string; readonly foreseenBytes: number; readonly quotaBytes: number };
}

/** Signs and sends concurrently. Resolves to the number of forms, of refusals and of bytes. */
async function raceForQuota({ store, place }: Setting, fault: string | null) {
  const env: Record<string, string> = {
    ...(await filesIn(place, 'direct')),
    RUNWIRE_MOUNT_QUOTA_BYTES: String(QUOTA_BYTES),
  };
  await using rig = await Rig.start({ fault, scripted: false, nodes: store === 'postgres' ? 3 : null, env });
  await rig.prepare({ apiIntegrationId: INTEGRATION });
  const ask = (query: string) => (store === 'postgres' ? rig.query(query) : askStore(rig.dataDir, query));
  const stored = async () => Number((await ask(STORED_BYTES))[0]?.bytes);

  /** The largest form of each path that was signed. */
  const promised = new Map<string, number>();
  const refused: QuotaRefusal[] = [];
  const send = async (n: number) => {
    const filename = n % 10 === 0 ? 'same.bin' : `${n}.bin`;
    const size = 500 + ((n * 37) % 11) * 100;
    const terms = signing(size, { apiIntegrationId: INTEGRATION, folder: '/app/mnt/quota', filename });
    const { status, body } = await rig.api(n).post('/create_agency_upload', terms);
    if (status !== 200) {
      refused.push({ filename, size, body });
      return;
    }
    promised.set(filename, Math.max(size, promised.get(filename) ?? 0));
    expectEqual('status of an upload with a signed form', await sendForm(body, Buffer.alloc(size, n)), 204);
  };
  const sending = Promise.all(Array.from({ length: UPLOADS }, (_, n) => send(n)));
  let [most, isOver] = [0, false];
  const over = sending.finally(() => {
    isOver = true;
  });
  for (; !isOver; await sleep(10)) most = Math.max(most, await stored());
  await over;

  const total = promised.values().reduce((sum, size) => sum + size, 0);
  expectAtMost('bytes of signed forms', total, QUOTA_BYTES);
  const { body } = await rig.api().get(`/v2/integrations/${INTEGRATION}/files?folder=/app/mnt/quota&limit=200`);
  expectEqual('files', body.items.length, promised.size);
  const listed = body.items.reduce((sum: number, { size }: { size: number }) => sum + size, 0);
  expectAtMost('bytes of stored files', Math.max(most, listed, await stored()), QUOTA_BYTES);
  const isWrong = ({ filename, size, body: { code, foreseenBytes, quotaBytes } }: QuotaRefusal) => {
    const own = promised.get(filename) ?? 0;
    const withIt = total - own + Math.max(own, size);
    // Forms stay open, so a later refusal can only foresee more.
    return (
      code !== 'mount_quota_exceeded' || foreseenBytes <= quotaBytes || foreseenBytes > withIt || withIt <= QUOTA_BYTES
    );
  };
  expectEqual('wrong refusals', refused.filter(isWrong), []);
  const bucket = env.S3_BUCKET ?? null;
  const waiting = bucket === null ? [] : (await keysIn(bucket)).filter((key) => key.includes('/drops/'));
  expectEqual('uploads in S3 that are not settled', waiting, []);
  await Promise.all(rig.servers.map((server) => server.kill()));
  await rig.add({ limits: SWEEP_NOW, fault: null });
  await expectSwept(() => compare(rig, bucket, ask));
  return { uploads: UPLOADS, refused: expectAtLeast('refusals', refused.length, 1) };
}

const setting = (store: StoreName, place: FilePlace) => [`${store} and ${place}`, { store, place }] as const;
const SOME = [setting('sqlite', 'disk'), setting('postgres', 's3')];
const ALL = [...SOME, setting('sqlite', 's3'), setting('postgres', 'disk')];

test('changes of files happen wholly or not at all', async (t) => {
  const fault = plantedFault();
  const missing = (await missingService('s3')) ?? (await missingService('postgres'));
  if (missing !== null) return t.skip(missing);
  const sum = { kills: 0, all: 0, none: 0, left_over: 0, uploads: 0, refused: 0 };
  const isAboutRows = fault === 'row-before-blob';
  if (!isAboutRows) {
    // One after the other: callers and servers keep two cores busy.
    await inLanes(1, SOME, async (setting) => addTo(sum, await raceForQuota(setting, fault)));
  }
  await inLanes(LANES, scale(SOME, ALL), async (setting) => {
    addTo(sum, await killEverywhere(setting, scale(true, false), isAboutRows ? fault : null));
  });
  for (const store of ['sqlite', 'postgres'] as const) addTo(sum, await killInFolder(store));
  expectAtLeast('blobs and drafts that the kills left', sum.left_over, 1);
  count(sum);
});
