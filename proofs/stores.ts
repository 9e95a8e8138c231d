import { rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  blobStoreConformance,
  DiskBlobStore,
  DiskMountStore,
  type MountFile,
  type MountStore,
  makeBucket,
  mountStoreConformance,
  sharedS3,
  temporaryFolder,
  testS3Files,
} from '@runwire/test-kit';
import { missingService } from '../test/support/services.ts';
import { DataFolder } from './support/data-folder.ts';
import { LeftOut, type Proof, Shortfall, within } from './support/proof.ts';
import { startServer } from './support/start-server.ts';
import { UPLOAD_CLAIMS } from './support/upload-claims.ts';

const FAULT = 'forget-types';
const CLAIM_MS = 120_000;
/** Claims at once: they wait for the gateway more than they work. */
const AT_ONCE = 4;
/** The short form takes one of so many claims on stores, and on servers. */
const SHORT_STEP = { stores: 6, servers: 3 };

type Kind = 'disk' | 's3-direct' | 's3-through';
const KINDS: readonly Kind[] = ['disk', 's3-direct', 's3-through'];

interface Claim {
  readonly title: string;
  readonly body: () => Promise<void>;
}

/** A store that does not know what type a file has. */
function forgettingTypes(mount: MountStore): MountStore {
  const forget = (file: MountFile | null) => file && { ...file, contentType: 'application/octet-stream' };
  return new Proxy(mount, {
    get(target, name) {
      if (name === 'find') return async (...args: Parameters<MountStore['find']>) => forget(await target.find(...args));
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

function claimsOn(kind: Kind, fault: string | null): Claim[] {
  const claims: Claim[] = [];
  const note = (title: string, body: () => Promise<void>) => claims.push({ title, body });
  if (kind === 'disk') {
    const onDisk = async <T>(open: (folder: string) => Promise<T>) => {
      const folder = temporaryFolder();
      return { open: () => open(folder), cleanUp: async () => rmSync(folder, { recursive: true }) };
    };
    blobStoreConformance(kind, () => onDisk((folder) => DiskBlobStore.open(join(folder, 'blobs'))), note);
    const openMount = (folder: string) => DiskMountStore.open({ folder: join(folder, 'mounts'), waitAt: undefined });
    mountStoreConformance(kind, () => onDisk(openMount), note);
    return claims;
  }
  const inBucket = async <T>(open: (files: Awaited<ReturnType<typeof testS3Files>>) => Promise<T>) => {
    const files = await testS3Files();
    return { open: () => open(files), cleanUp: async () => files[Symbol.dispose]() };
  };
  blobStoreConformance(kind, () => inBucket(async (files) => files.blobs()), note);
  const openMount = async (files: Awaited<ReturnType<typeof testS3Files>>) => {
    const mount: MountStore = kind === 's3-direct' ? await files.directMount() : await files.mount();
    return fault === FAULT ? forgettingTypes(mount) : mount;
  };
  mountStoreConformance(kind, () => inBucket(openMount), note);
  return claims;
}

async function settingsOf(kind: Kind): Promise<Record<string, string>> {
  if (kind === 'disk') return {};
  const access = await sharedS3();
  return {
    S3_BUCKET: await makeBucket(access),
    S3_ENDPOINT: access.endpoint,
    S3_UPLOADS: kind === 's3-direct' ? 'direct' : 'through',
    AWS_REGION: access.region,
    AWS_ACCESS_KEY_ID: access.accessKeyId,
    AWS_SECRET_ACCESS_KEY: access.secretAccessKey,
  };
}

async function check(claims: readonly Claim[]): Promise<number> {
  const rest = claims.values();
  const worker = async () => {
    for (const { title, body } of rest) {
      await within(title, CLAIM_MS, body()).catch((error: Error) => {
        throw new Shortfall(`${title}: ${error.message.split('\n').join(' ')}`);
      });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return claims.length;
}

/** The claims on the stores themselves, and those on a server that keeps its files there. */
async function checkAll(kind: Kind, fault: string | null, short: boolean): Promise<number> {
  const ofStores = claimsOn(kind, fault).filter((_, place) => !short || place % SHORT_STEP.stores === 0);
  let count = await check(ofStores);
  using folder = new DataFolder();
  await using server = await startServer(null, { dataDir: folder.path, env: await settingsOf(kind) });
  const ofServer = Object.entries(UPLOAD_CLAIMS).map(([title, claim], place) => ({
    title: `${kind}: ${title}`,
    body: async () => {
      const apiIntegrationId = `claim-${place}`;
      await server.api.post('/v2/integrations', { apiIntegrationId });
      await claim(server, apiIntegrationId);
    },
  }));
  count += await check(ofServer.filter((_, place) => !short || place % SHORT_STEP.servers === 0));
  return count;
}

export const proof: Proof = {
  name: 'stores',
  minutes: 1.3,
  faults: {
    'forget-types': /^s3-direct: what was written is there as it was, after a restart too: /m,
  },
  async run({ fault, scale }) {
    const short = scale(true, false);
    const missing = await missingService('s3');
    if (missing !== null) throw new LeftOut(missing);
    const { version } = await sharedS3();
    process.stdout.write(`The S3 gateway: ${version}\n`);
    const counts: number[] = [];
    for (const kind of KINDS) counts.push(await checkAll(kind, fault, short));
    process.stdout.write(`${KINDS.map((kind, place) => `${kind} ${counts[place]}`).join(', ')}\n`);
    if (new Set(counts).size !== 1) throw new Shortfall(`The stores: expected equal counts, found ${counts.join()}.`);
    const [disk = 0, s3_direct = 0, s3_through = 0] = counts;
    return { disk, s3_direct, s3_through };
  },
};
