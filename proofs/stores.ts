import { rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  blobStoreConformance,
  DiskBlobStore,
  DiskMountStore,
  type MountFile,
  type MountStore,
  mountStoreConformance,
  s3Settings,
  sharedS3,
  temporaryFolder,
  testS3Files,
} from '@runwire/test-kit';
import { Shortfall, within } from '@runwire/test-kit/shortfall.ts';
import { missingService } from '../test/support/services.ts';
import { inLanes } from './support/lanes.ts';
import { LeftOut, type Proof } from './support/proof.ts';
import { Rig } from './support/rig.ts';
import { UPLOAD_CLAIMS } from './support/upload-claims.ts';

const FAULT = 'forget-types';
const CLAIM_MS = 120_000;
/** Claims wait for the gateway more than they work. */
const LANES = 4;

const FILE_PLACES = ['disk', 's3-direct', 's3-through'] as const;
type FilePlace = (typeof FILE_PLACES)[number];
type Claims = [title: string, body: () => Promise<void>][];

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

/** The claims of the conformance suites about the stores of this place. */
function storeClaims(place: FilePlace, fault: string | null): Claims {
  const claims: Claims = [];
  const note = (title: string, body: () => Promise<void>) => claims.push([title, body]);
  const onDisk = async <T>(open: (folder: string) => Promise<T>) => {
    const folder = temporaryFolder();
    return { open: () => open(folder), cleanUp: async () => rmSync(folder, { recursive: true }) };
  };
  type S3Files = Awaited<ReturnType<typeof testS3Files>>;
  const inBucket = async <T>(open: (files: S3Files) => Promise<T>) => {
    const files = await testS3Files();
    return { open: () => open(files), cleanUp: async () => files[Symbol.dispose]() };
  };
  if (place === 'disk') {
    blobStoreConformance(place, () => onDisk((folder) => DiskBlobStore.open(join(folder, 'blobs'))), note);
    const openMount = (folder: string) => DiskMountStore.open({ folder: join(folder, 'mounts'), waitAt: undefined });
    mountStoreConformance(place, () => onDisk(openMount), note);
    return claims;
  }
  blobStoreConformance(place, () => inBucket(async (files) => files.blobs()), note);
  const openMount = async (files: S3Files): Promise<MountStore> => {
    const mount: MountStore = place === 's3-direct' ? await files.directMount() : await files.mount();
    return fault === FAULT ? forgettingTypes(mount) : mount;
  };
  mountStoreConformance(place, () => inBucket(openMount), note);
  return claims;
}

async function settingsOf(place: FilePlace): Promise<Record<string, string>> {
  if (place === 'disk') return {};
  return s3Settings(await sharedS3(), { S3_UPLOADS: place === 's3-direct' ? 'direct' : 'through' });
}

/** The same for a server that keeps its files there, each claim with an integration of its own. */
const serverClaims = (place: FilePlace, rig: Rig): Claims =>
  Object.entries(UPLOAD_CLAIMS).map(([title, claim], number) => [
    `${place}: ${title}`,
    async () => {
      const apiIntegrationId = `claim-${number}`;
      await rig.prepare({ apiIntegrationId });
      await claim(rig.server(), apiIntegrationId);
    },
  ]);

async function check(claims: Claims): Promise<number> {
  await inLanes(LANES, claims, (body) =>
    within('end of the claim', CLAIM_MS, body()).catch((error: Error) => {
      throw new Shortfall(error.message.split('\n').join(' '));
    }),
  );
  return claims.length;
}

export const proof: Proof = {
  name: 'stores',
  minutes: 1.3,
  faults: { [FAULT]: /^s3-direct: what was written is there as it was, after a restart too: /m },
  async run({ fault, scale }) {
    const missing = await missingService('s3');
    if (missing !== null) throw new LeftOut(missing);
    process.stdout.write(`The S3 gateway: ${(await sharedS3()).version}\n`);
    const counts: number[] = [];
    for (const place of FILE_PLACES) {
      const every = (step: number) => (_: unknown, index: number) => index % scale(step, 1) === 0;
      const count = await check(storeClaims(place, fault).filter(every(6)));
      await using rig = await Rig.start({ scripted: false, env: await settingsOf(place) });
      counts.push(count + (await check(serverClaims(place, rig).filter(every(3)))));
    }
    if (new Set(counts).size !== 1) throw new Shortfall(`The stores: expected equal counts, found ${counts.join()}.`);
    const [disk = 0, s3_direct = 0, s3_through = 0] = counts;
    return { disk, s3_direct, s3_through };
  },
};
