import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { rotateUploads } from '@runwire/server';
import {
  type FormAnswer,
  hasS3Gateway,
  makeBucket,
  postForm,
  type ServerProcess,
  sharedS3,
  stopOwnS3,
  storeEnvironment,
  uploadKey,
} from '@runwire/test-kit';
import { DataFolder } from './support/data-folder.ts';
import { type BuiltForm, KEY, type Place } from './support/post-policy/build-form.ts';
import { checkAnswer } from './support/post-policy/check-answer.ts';
import { knownToDiffer } from './support/post-policy/data.ts';
import { caseScenes, cephScenes, type Scene, type Sending } from './support/post-policy/scenes.ts';
import { StoredFiles } from './support/post-policy/stored-files.ts';
import { expectEqual, expectNumber, type Proof, Shortfall } from './support/proof.ts';
import { startServer } from './support/start-server.ts';

const LIST_FAULTS = ['forget-difference', 'invent-difference'];
/** How long a form lives that is to expire on its way: longer, where the machine was too slow for the form's head. */
const PATIENCES_S = [2, 8, 32];

async function send(built: BuiltForm): Promise<FormAnswer> {
  const { splitAt } = built;
  if (splitAt === null) return postForm(built.url, built.form);
  return postForm(built.url, built.form, () => sleep(splitAt - Date.now() + 1000));
}

/** All answers to one form of a case, the last of them with what was sent. */
async function answersTo(
  sending: Sending,
  place: Place,
  patiencesS: readonly number[],
): Promise<{ answers: FormAnswer[]; built: BuiltForm }> {
  for (const patienceS of patiencesS) {
    const built = sending.build(place, Date.now(), patienceS);
    const answers: FormAnswer[] = [];
    for (let time = 0; time < sending.times; time += 1) answers.push(await send(built));
    const isLate = built.splitAt !== null && answers[0]?.body.includes('Policy expired') === true;
    if (!isLate || patienceS === patiencesS.at(-1)) return { answers, built };
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
    const { answers, built } = await answersTo(sending, place, PATIENCES_S);
    for (const answer of answers) {
      checkAnswer(id, answer, sending.expect, built, place);
      said.push(short(answer));
    }
    const isStored = (answers[0]?.status ?? 0) < 400;
    const { children, object_key: named } = sending.expect.extra ?? {};
    const key = children?.Key ?? named?.replace('{KEY}', KEY) ?? built.key;
    files.expect(id, isStored ? { bucket: place.bucket, key, bytes: built.bytes } : null);
  }
  return said;
}

const short = ({ status, code }: FormAnswer) => (code === null ? `${status}` : `${status} ${code}`);

/** Cases that mean nothing there: signing is ours, and the gateway gives out no sessions. */
const isForGateway = ({ id, signing }: Scene) =>
  signing === null && id !== 'aws.session_token_covered' && id !== 'minio.reserved_bucket';

/** The cases that are known to differ; with a fault in the list, of those alone that are played then. */
function knownWith(fault: string | null, scenes: readonly Scene[]): ReadonlySet<string> {
  const known = new Set(knownToDiffer);
  if (fault === null) return known;
  const played = scenes.map(({ id }) => id);
  const [forgotten] = played.filter((id) => known.has(id));
  const [invented] = played.filter((id) => !known.has(id));
  return new Set(
    played.filter((id) =>
      fault === 'forget-difference' ? known.has(id) && id !== forgotten : known.has(id) || id === invented,
    ),
  );
}

/** The same forms, sent to a real S3; resolves to how many cases it answers otherwise. */
async function compare(ours: ReadonlyMap<string, readonly string[]>, fault: string | null) {
  if (!hasS3Gateway()) {
    process.stdout.write('LEFT OUT the comparison with an S3: Ceph is not installed here.\n');
    return { gateway: 0, differ: 0 };
  }
  const gateway = await sharedS3();
  const [bucket, otherBucket] = [await makeBucket(gateway), await makeBucket(gateway)];
  const place: Place = {
    url: (name) => `${gateway.endpoint}/${name}`,
    bucket,
    otherBucket,
    reservedBucket: 'none',
    key: gateway,
  };
  const differing: string[] = [];
  const scenes = [...cephScenes, ...caseScenes].filter((scene) => ours.has(scene.id) && isForGateway(scene));
  if (fault === null) expectNumber('cases for the gateway', scenes.length, 189);
  const known = knownWith(fault, scenes);
  for (const scene of scenes) {
    const said: string[] = [];
    for (const sending of scene.sendings) {
      const { answers } = await answersTo(sending, place, PATIENCES_S.slice(0, 1));
      said.push(...answers.map(short));
    }
    if (said.join() !== ours.get(scene.id)?.join()) differing.push(scene.id);
  }
  const unknown = differing.filter((id) => !known.has(id));
  if (unknown.length > 0) {
    throw new Shortfall(`the gateway differs: expected in known cases alone, found ${unknown.join(', ')} too.`);
  }
  const alike = [...known].filter((id) => !differing.includes(id));
  if (alike.length > 0) {
    throw new Shortfall(`the gateway differs: expected in all known cases, found ${alike.join(', ')} answered alike.`);
  }
  process.stdout.write(`${gateway.version}: ${scenes.length} cases, ${differing.length} answered otherwise\n`);
  return { gateway: scenes.length, differ: differing.length };
}

export const proof: Proof = {
  name: 'post-policy',
  minutes: 0.5,
  faults: {
    'take-extra-fields': /^aws\.uncovered_field: expected status 403, found 204/m,
    'forget-difference': /^the gateway differs: expected in known cases alone, found ceph\.\S+ too\.$/m,
    'invent-difference': /^the gateway differs: expected in all known cases, found ceph\.\S+ answered alike\.$/m,
  },
  async run({ fault }) {
    using folder = new DataFolder();
    const secret = randomBytes(32).toString('base64url');
    const env = { RUNWIRE_SECRET: secret };
    const ours = new Map<string, readonly string[]>();
    {
      const isOfList = fault !== null && LIST_FAULTS.includes(fault);
      const planted = isOfList ? null : fault;
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
      // The first ones are enough to see that the list of differences is wrong.
      for (const scene of [...cephScenes, ...(isOfList ? [] : caseScenes)]) {
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
    const ceph = cephScenes.filter(({ id }) => ours.has(id)).length;
    const cases = caseScenes.filter(({ id }) => ours.has(id)).length;
    process.stdout.write(`ceph ${ceph}/${cephScenes.length} cases ${cases}/${caseScenes.length}\n`);
    try {
      const compared = await compare(ours, fault);
      return {
        ceph: expectNumber('cases of ceph/s3-tests', ceph, 20),
        cases: expectNumber('further cases', cases, 173),
        ...compared,
      };
    } finally {
      await stopOwnS3();
    }
  },
};
