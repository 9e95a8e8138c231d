import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { rotateUploads } from '@runwire/server';
import {
  type FormAnswer,
  makeBucket,
  postForm,
  type ServerProcess,
  sharedS3,
  stopOwnS3,
  storeEnvironment,
  uploadKey,
} from '@runwire/server/testing';
import { DataFolder } from './support/data-folder.ts';
import type { BuiltForm, Place } from './support/post-policy/build-form.ts';
import { checkAnswer } from './support/post-policy/check-answer.ts';
import { knownToDiffer } from './support/post-policy/data.ts';
import { caseScenes, cephScenes, type Scene, type Sending } from './support/post-policy/scenes.ts';
import { StoredFiles } from './support/post-policy/stored-files.ts';
import { expectEqual, expectNumber, type Proof, Shortfall } from './support/proof.ts';
import { startServer } from './support/start-server.ts';

const EARLY_FAULT = 'forget-difference';
/** How long a form lives that is to expire on its way: longer, where the machine was too slow for the form's head. */
const PATIENCES_S = [2, 8, 32];

async function send(built: BuiltForm): Promise<FormAnswer> {
  const { splitAt } = built;
  if (splitAt === null) return postForm(built.url, built.form);
  return postForm(built.url, built.form, () => sleep(splitAt - Date.now() + 1000));
}

/** All answers to one form of a case, the last of them with what was sent. */
async function answersTo(sending: Sending, place: Place): Promise<{ answers: FormAnswer[]; built: BuiltForm }> {
  for (const patienceS of PATIENCES_S) {
    const built = sending.build(place, Date.now(), patienceS);
    const answers: FormAnswer[] = [];
    for (let time = 0; time < sending.times; time += 1) answers.push(await send(built));
    const isLate = built.splitAt !== null && answers[0]?.body.includes('Policy expired') === true;
    if (!isLate || patienceS === PATIENCES_S.at(-1)) return { answers, built };
  }
  throw new Error('There is always a last try.');
}

/** A case at our own endpoint; resolves to its answers, in short. */
async function play(scene: Scene, place: Place, files: StoredFiles, server: ServerProcess): Promise<string[]> {
  const { id, signing } = scene;
  if (signing !== null) {
    const answer = await server.api.post('/create_agency_upload', {
      apiIntegrationId: place.bucket,
      folder: '/app/mnt/pictures',
      filename: 'cat.png',
      contentType: 'image/png',
      sizeBytes: 100,
      ...signing,
    });
    expectEqual(`${id}: status at signing`, answer.status, 400);
    expectEqual(`${id}: code at signing`, answer.body.code, 'invalid_request');
    for (const field of Object.keys(signing)) {
      if (!answer.body.error.includes(field))
        throw new Shortfall(`${id}: expected ${field}, found ${answer.body.error}.`);
    }
    return [];
  }
  const said: string[] = [];
  for (const sending of scene.sendings) {
    const { answers, built } = await answersTo(sending, place);
    for (const answer of answers) {
      checkAnswer(id, answer, sending.expect, built, place);
      said.push(short(answer));
    }
    const isStored = (answers[0]?.status ?? 0) < 400;
    const key = sending.expect.extra?.children?.Key ?? built.key;
    files.expect(id, isStored ? { bucket: place.bucket, key, bytes: built.bytes } : null);
  }
  return said;
}

const short = ({ status, code }: FormAnswer) => (code === null ? `${status}` : `${status} ${code}`);

/** Cases that mean nothing there: signing is ours, and the gateway gives out no sessions. */
const isForGateway = ({ id, signing }: Scene) =>
  signing === null && id !== 'aws.session_token_covered' && id !== 'minio.reserved_bucket';

/** The same forms, sent to a real S3; resolves to how many cases it answers otherwise. */
async function compare(ours: ReadonlyMap<string, readonly string[]>, fault: string | null) {
  const gateway = await sharedS3();
  const [bucket, otherBucket] = [await makeBucket(gateway), await makeBucket(gateway)];
  const place: Place = {
    url: (name) => `${gateway.endpoint}/${name}`,
    bucket,
    otherBucket,
    reservedBucket: 'none',
    key: gateway,
  };
  const known = new Set(knownToDiffer);
  if (fault === EARLY_FAULT) known.delete([...known][0] ?? '');
  const differing: string[] = [];
  const scenes = [...cephScenes, ...caseScenes].filter(isForGateway);
  for (const scene of scenes) {
    const said: string[] = [];
    for (const sending of scene.sendings) {
      const { answers } = await answersTo(sending, place);
      said.push(...answers.map(short));
    }
    if (said.join() !== ours.get(scene.id)?.join()) differing.push(scene.id);
  }
  const unknown = differing.filter((id) => !known.has(id));
  if (unknown.length > 0) {
    throw new Shortfall(`the gateway differs: expected in known cases alone, found ${unknown.join(', ')} too.`);
  }
  process.stdout.write(`${gateway.version}: ${scenes.length} cases, ${differing.length} answered otherwise\n`);
  return { gateway: scenes.length, differ: differing.length };
}

export const proof: Proof = {
  name: 'post-policy',
  faults: ['take-extra-fields', EARLY_FAULT],
  async run({ fault }) {
    using folder = new DataFolder();
    const secret = randomBytes(32).toString('base64url');
    const env = { RUNWIRE_SECRET: secret };
    const ours = new Map<string, readonly string[]>();
    {
      const planted = fault === EARLY_FAULT ? null : fault;
      await using server = await startServer(planted, { dataDir: folder.path, env });
      await server.api.post('/v2/integrations', { apiIntegrationId: 'other', name: 'Other', agency: 'test' });
      const said = await rotateUploads({
        RUNWIRE_DATA_DIR: folder.path,
        ...(await storeEnvironment(folder.path)),
        ...env,
      });
      const key = uploadKey(secret, Number(/number (\d+)/.exec(said)?.[1]));
      const place: Place = {
        url: (bucket) => `${server.url}/uploads/${bucket}`,
        bucket: 'demo',
        otherBucket: 'other',
        reservedBucket: 'drafts',
        key,
      };
      const files = new StoredFiles(folder.path);
      const failures: string[] = [];
      for (const scene of [...cephScenes, ...caseScenes]) {
        try {
          ours.set(scene.id, await play(scene, place, files, server));
        } catch (error) {
          if (!(error instanceof Shortfall)) throw error;
          failures.push(error.message);
          files.clear();
        }
      }
      if (failures.length > 0) throw new Shortfall(failures.join('\n'));
    }
    const figures = {
      ceph: expectNumber('cases of ceph/s3-tests', cephScenes.filter(({ id }) => ours.has(id)).length, 20),
      cases: expectNumber('further cases', caseScenes.filter(({ id }) => ours.has(id)).length, 86),
    };
    process.stdout.write(`ceph ${figures.ceph}/${cephScenes.length} cases ${figures.cases}/${caseScenes.length}\n`);
    try {
      return { ...figures, ...(await compare(ours, fault)) };
    } finally {
      await stopOwnS3();
    }
  },
};
