import { hash, randomBytes, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { rotateUploads } from '@runwire/server';
import {
  type FormAnswer,
  hasS3Gateway,
  makeBucket,
  postForm,
  Rig,
  type ServerProcess,
  sharedS3,
  stopOwnS3,
  storeEnvironment,
  uploadKey,
} from '@runwire/test-kit';
import {
  type BuiltForm,
  buildForm,
  getComparisons,
  KEY,
  type Sending,
  type Target,
} from '@runwire/test-kit/policy-forms.ts';
import { count, plantedFault } from '@runwire/test-kit/scale.ts';
import { expectEqual, Shortfall } from '@runwire/test-kit/shortfall.ts';
import { askStore } from './support/ask-store.ts';
import { signing } from './support/uploads.ts';

interface Case {
  readonly id: string;
  readonly sendings: readonly Sending[];
  /** `create_agency_upload` must refuse this; there is no form. */
  readonly signing?: Readonly<Record<string, unknown>>;
}

const read = (name: string) => JSON.parse(readFileSync(new URL(`data/${name}`, import.meta.url), 'utf8'));
const { ceph, cases }: Record<'ceph' | 'cases', readonly Case[]> = read('post-policy-cases.json');
/** Cases that a real gateway answers with another status or code. */
const knownToDiffer: readonly string[] = read('post-policy-differs.json');
/** How long a form lives that must expire while it is sent: longer if the machine was too slow for its first half. */
const PATIENCES_S = [2, 8, 32];
const inShort = ({ status, code }: FormAnswer) => (code === null ? `${status}` : `${status} ${code}`);
/** Sends one form as often as its case asks. */
async function send(
  sending: Sending,
  target: Target,
  patiences: readonly number[],
  beforeSending = async (_: BuiltForm) => {},
): Promise<{ readonly answers: readonly FormAnswer[]; readonly built: BuiltForm }> {
  const [patienceS = 0, ...longer] = patiences;
  const built = buildForm(sending, target, Date.now(), patienceS);
  await beforeSending(built);
  const { splitAt } = built;
  const hold = splitAt === null ? undefined : () => sleep(splitAt - Date.now() + 1000);
  const answers: FormAnswer[] = [];
  for (let time = 0; time < (sending.times ?? 1); time += 1) answers.push(await postForm(built.url, built.form, hold));
  const isLate = splitAt !== null && answers[0]?.body.includes('Policy expired') === true;
  return isLate && longer.length > 0 ? send(sending, target, longer, beforeSending) : { answers, built };
}

const blobsIn = (dataDir: string) =>
  readdirSync(join(dataDir, 'blobs'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'installation')
    .map((entry) => join(entry.parentPath, entry.name));

/** The stored files with their bytes, and blobs and drafts that no file refers to. Old versions do not count. */
async function filesIn(dataDir: string): Promise<[name: string, bytes: string][]> {
  const rows = await askStore(dataDir, 'select integration_id, path, blob_key, freed_at from files');
  const names = new Map(
    rows.map((row) => [String(row.blob_key), `${row.integration_id}${String(row.path).replaceAll('\u0001', '/')}`]),
  );
  const freed = new Set(rows.flatMap((row) => (row.freed_at === null ? [] : [row.blob_key])));
  return blobsIn(dataDir)
    .filter((path) => !freed.has(basename(path)))
    .map((path) => [names.get(basename(path)) ?? path, hash('sha256', readFileSync(path))]);
}

/** As a signing does: a form without a row is closed. */
async function insertForm(dataDir: string, bucket: string, path: string, { form }: BuiltForm): Promise<void> {
  const policy = form.parts.find(({ name }) => name.toLowerCase() === 'policy')?.value;
  const expiresAt = Date.parse(
    /"expiration": *"([^"]*)"/.exec(Buffer.from(String(policy), 'base64').toString())?.[1] ?? '',
  );
  if (Number.isNaN(expiresAt) || path.includes('\0')) return;
  const stored = `\u0001${path.replaceAll('/', '\u0001')}`.replaceAll("'", "''");
  const columns = 'integration_id, form_id, path, content_type, size_bytes, signed_at, expires_at';
  const values = `'${bucket}', 'form_${randomUUID()}', '${stored}', '', 0, ${Date.now()}, ${expiresAt}`;
  await askStore(dataDir, `insert into upload_forms (${columns}) values (${values})`);
}

async function clear(dataDir: string): Promise<void> {
  await askStore(dataDir, 'delete from files');
  for (const path of blobsIn(dataDir)) rmSync(path, { force: true });
}

/** A case at our own address; returns its answers in short. After each form exactly its file is stored, or nothing. */
async function play({ id, signing: fields, sendings }: Case, target: Target, dataDir: string, { api }: ServerProcess) {
  if (fields !== undefined) {
    const body = { ...signing(100, { folder: '/app/mnt/pictures', filename: 'cat.png' }), ...fields };
    const answer = await api.post('/create_agency_upload', { ...body, apiIntegrationId: target.bucket });
    const named = Object.keys(fields).filter((field) => !answer.body.error.includes(field));
    expectEqual(`${id}: signing`, [answer.status, answer.body.code, named], [400, 'invalid_request', []]);
  }
  const all: string[] = [];
  for (const sending of sendings) {
    const { children, object_key: named } = sending.expect.extra ?? {};
    const pathFor = ({ key }: BuiltForm): string => children?.Key ?? named?.replace('{KEY}', KEY) ?? key;
    const { answers, built } = await send(sending, target, PATIENCES_S, (form) =>
      insertForm(dataDir, target.bucket, pathFor(form), form),
    );
    for (const answer of answers) {
      const compared = getComparisons(answer, sending.expect, built, target);
      for (const [what, found, wanted] of compared) expectEqual(`${id}: ${what}`, found, wanted);
    }
    all.push(...answers.map(inShort));
    const name = `${target.bucket}/${pathFor(built)}`;
    const isTaken = (answers[0]?.status ?? 0) < 400;
    expectEqual(`${id}: stored`, await filesIn(dataDir), isTaken ? [[name, hash('sha256', built.bytes)]] : []);
    await clear(dataDir);
  }
  return all;
}

/** How each fault of the list of differences is planted. */
const LIST_FAULTS: Readonly<
  Record<string, (known: readonly string[], played: readonly string[]) => readonly string[]>
> = {
  'forget-difference': (known) => known.slice(1),
  'invent-difference': (known, played) => [...known, ...played.filter((id) => !known.includes(id)).slice(0, 1)],
};

/** The same forms sent to a real S3: exactly the known cases are answered differently. */
async function compare(ours: ReadonlyMap<string, readonly string[]>, fault: string | null) {
  if (!hasS3Gateway()) {
    process.stdout.write('LEFT OUT the comparison with an S3: Ceph is not installed here.\n');
    return { gateway: 0, differ: 0 };
  }
  const gateway = await sharedS3();
  const url = (name: string) => `${gateway.endpoint}/${name}`;
  const [bucket, otherBucket] = [await makeBucket(gateway), await makeBucket(gateway)];
  const target = { url, bucket, otherBucket, reservedBucket: 'none', key: gateway };
  // Signing is ours, and the gateway gives out no sessions.
  const isOurs = ({ id, signing: fields }: Case) =>
    fields !== undefined || id === 'aws.session_token_covered' || id === 'minio.reserved_bucket';
  const played = [...ceph, ...cases].filter((one) => ours.has(one.id) && !isOurs(one));
  const ids = played.map(({ id }) => id);
  const differing: string[] = [];
  for (const { id, sendings } of played) {
    const sent = await Array.fromAsync(sendings, (sending) => send(sending, target, PATIENCES_S.slice(0, 1)));
    const all = sent.flatMap(({ answers }) => answers.map(inShort));
    if (all.join() !== ours.get(id)?.join()) differing.push(id);
  }
  const known =
    LIST_FAULTS[fault ?? '']?.(
      ids.filter((id) => knownToDiffer.includes(id)),
      ids,
    ) ?? knownToDiffer;
  const unknown = differing.filter((id) => !known.includes(id));
  const wrongly = known.filter((id) => !differing.includes(id));
  expectEqual('cases that only the gateway answers so, and that are not known', unknown, []);
  expectEqual('cases that are listed and that the gateway answers as we do', wrongly, []);
  process.stdout.write(`${gateway.version}: ${played.length} cases, ${differing.length} answered otherwise\n`);
  return { gateway: played.length, differ: differing.length };
}

test('the upload address accepts and refuses what S3 does', async () => {
  const fault = plantedFault();
  const env = { RUNWIRE_SECRET: randomBytes(32).toString('base64url') };
  const ours = new Map<string, readonly string[]>();
  const isOfList = Object.hasOwn(LIST_FAULTS, fault ?? '');
  {
    await using rig = await Rig.start({ fault: isOfList ? null : fault, env });
    const server = rig.server();
    await rig.prepare({ apiIntegrationId: 'other' });
    const settings = { RUNWIRE_DATA_DIR: rig.dataDir, ...(await storeEnvironment(rig.dataDir)), ...env };
    const secretNumber = Number(/number (\d+)/.exec(await rotateUploads(settings))?.[1]);
    const url = (bucket: string) => `${server.url}/uploads/${bucket}`;
    const key = uploadKey(env.RUNWIRE_SECRET, secretNumber);
    const target = { url, bucket: 'demo', otherBucket: 'other', reservedBucket: 'drafts', key };
    const failures: string[] = [];
    // A wrong list of differences shows in the first cases.
    for (const one of isOfList ? ceph : [...ceph, ...cases]) {
      try {
        ours.set(one.id, await play(one, target, rig.dataDir, server));
      } catch (error) {
        if (!(error instanceof Shortfall)) throw error;
        failures.push(error.message);
        await clear(rig.dataDir);
      }
    }
    if (failures.length > 0) throw new Shortfall(failures.join('\n'));
  }
  try {
    const counts = { ceph: expectEqual('cases of ceph/s3-tests', ceph.length, 20), cases: cases.length };
    count({ ...counts, ...(await compare(ours, fault)) });
  } finally {
    await stopOwnS3();
  }
});
