import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  blobStoreConformance,
  DiskBlobStore,
  Rig,
  s3Settings,
  sharedS3,
  temporaryFolder,
  testS3Files,
} from '@runwire/test-kit';
import { count, plantedFault, scale } from '@runwire/test-kit/scale.ts';
import { Shortfall, within } from '@runwire/test-kit/shortfall.ts';
import { inLanes } from './support/lanes.ts';
import { missingService } from './support/services.ts';
import { UPLOAD_CLAIMS } from './support/upload-claims.ts';

const CLAIM_MS = 120_000;
/** Claims wait for the gateway more than they work. */
const LANES = 4;

const FILE_PLACES = ['disk', 's3-direct', 's3-through'] as const;
type FilePlace = (typeof FILE_PLACES)[number];
type Claims = [title: string, body: () => Promise<void>][];

/** The claims of the conformance suite about the bytes at this place. */
function storeClaims(place: FilePlace): Claims {
  const claims: Claims = [];
  const note = (title: string, body: () => Promise<void>) => claims.push([title, body]);
  const harness = async () => {
    if (place === 'disk') {
      const folder = temporaryFolder();
      const open = () => DiskBlobStore.open(join(folder, 'blobs'));
      return { open, cleanUp: async () => rmSync(folder, { recursive: true }) };
    }
    const files = await testS3Files();
    return { open: async () => files.blobs(), cleanUp: async () => files[Symbol.dispose]() };
  };
  blobStoreConformance(place, harness, note);
  return claims;
}

async function getSettings(place: FilePlace): Promise<Record<string, string>> {
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

test('files behave the same on disk, on S3 and through the server', async (t) => {
  const fault = plantedFault();
  const missing = await missingService('s3');
  if (missing !== null) return t.skip(missing);
  process.stdout.write(`The S3 gateway: ${(await sharedS3()).version}\n`);
  const counts: number[] = [];
  for (const place of FILE_PLACES) {
    const every = (step: number) => (_: unknown, index: number) => index % scale(step, 1) === 0;
    const count = await check(storeClaims(place).filter(every(3)));
    await using rig = await Rig.start({ fault, scripted: false, env: await getSettings(place) });
    counts.push(count + (await check(serverClaims(place, rig).filter(every(3)))));
  }
  if (new Set(counts).size !== 1) throw new Shortfall(`The stores: expected equal counts, found ${counts.join()}.`);
  const [disk = 0, s3_direct = 0, s3_through = 0] = counts;
  count({ disk, s3_direct, s3_through });
});
