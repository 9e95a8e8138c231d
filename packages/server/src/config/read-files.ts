import { type S3Config, SettingRefused } from './config.ts';
import type { ReadSetting } from './read-network.ts';

const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const REGION = /^[a-z0-9-]{2,32}$/;
const UPLOADS = ['direct', 'through'] as const;
/** Most self-hosted S3 servers use this name; the others have one region and ignore the name. */
const DEFAULT_REGION = 'us-east-1';

/** `S3_BUCKET`, `S3_ENDPOINT`, `S3_UPLOADS` and `AWS_REGION`. Returns null if files are on disk. */
export function readFiles(read: ReadSetting, endpoint: string | null): S3Config | null {
  const bucket = read('S3_BUCKET');
  const uploads = readUploads(read('S3_UPLOADS'));
  if (bucket === null) {
    const [stray] = ['S3_ENDPOINT', 'S3_UPLOADS'].filter((name) => read(name) !== null);
    if (stray === undefined) return null;
    throw new SettingRefused(`${stray} is set but S3_BUCKET is not; set both, or unset it.`);
  }
  if (!BUCKET.test(bucket)) {
    throw new SettingRefused(
      'S3_BUCKET is not a valid bucket name; set it to 3 to 63 lowercase letters, digits, dots and hyphens.',
    );
  }
  return Object.freeze({ bucket, endpoint, region: readRegion(read('AWS_REGION'), endpoint), uploads });
}

function readUploads(text: string | null): S3Config['uploads'] {
  const uploads = UPLOADS.find((known) => known === (text ?? 'direct'));
  if (uploads === undefined) throw new SettingRefused(`S3_UPLOADS must be one of ${UPLOADS.join(', ')}.`);
  return uploads;
}

function readRegion(region: string | null, endpoint: string | null): string {
  if (region === null && endpoint === null) {
    throw new SettingRefused(
      'S3_BUCKET is set but AWS_REGION is not; set it to the region of the bucket, or set S3_ENDPOINT if the bucket is not at Amazon.',
    );
  }
  const found = region ?? DEFAULT_REGION;
  if (REGION.test(found)) return found;
  throw new SettingRefused(
    'AWS_REGION is not a valid region name; set it to the region of the bucket, such as eu-central-1.',
  );
}
