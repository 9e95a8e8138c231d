import { execFile } from 'node:child_process';
import { hash, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { answerOf, makeBucket, s3Client, sharedS3 } from '@runwire/test-kit';
import { CURL, missingService } from '../test/support/services.ts';
import { Browser } from '../test/support/upload-browser.ts';
import { sendForm } from '../test/support/uploads.ts';
import { expectEqual, expectNumber, LeftOut, type Proof, within } from './support/proof.ts';
import { Rig } from './support/rig.ts';
import { type SignedForm, signed } from './support/signed-form.ts';

const LARGEST = 20_971_520;
const FOLDER = '/app/mnt/members/ann';
const FILES = '/v2/integrations/demo/files';
/** The store of a server's files, and the host that receives the forms. */
const PLACES = ['disk', 's3-direct', 's3-through'] as const;
type Place = (typeof PLACES)[number];

/** Sends a form; resolves to the status, or null if the sender cannot see it. */
type Send = (form: SignedForm, bytes: Uint8Array, isRefused: boolean) => Promise<number | null>;

const sendersOf = (browser: Browser, rig: Rig): Readonly<Record<string, Send>> => ({
  curl: async ({ uploadUrl, uploadFields }, bytes) => {
    const file = join(rig.dataDir, 'sent');
    writeFileSync(file, bytes);
    const fields = Object.entries(uploadFields).flatMap(([name, value]) => ['--form-string', `${name}=${value}`]);
    const options = ['-sS', '-o', '/dev/null', '-w', '%{http_code}', '--max-time', '60'];
    return Number((await promisify(execFile)(CURL, [...options, ...fields, '-F', `file=@${file}`, uploadUrl])).stdout);
  },
  fetch: (form, bytes) => sendForm({ ...form, uploadFields: { ...form.uploadFields } }, bytes),
  'browser fetch': (form, bytes, isRefused) => browser.upload('fetch', form, bytes, isRefused),
  'browser form': (form, bytes, isRefused) => browser.upload('form', form, bytes, isRefused),
});

/** The settings of a server of this place; on S3 with its own bucket, to which pages of any origin may post. */
async function settingsOf(place: Place): Promise<Record<string, string>> {
  if (place === 'disk') return {};
  const s3 = await sharedS3();
  const bucket = await makeBucket(s3);
  const { PutBucketCorsCommand } = await import('@aws-sdk/client-s3');
  const client = await s3Client(s3);
  const rule = { AllowedOrigins: ['*'], AllowedMethods: ['POST'], AllowedHeaders: ['*'] };
  await client.send(new PutBucketCorsCommand({ Bucket: bucket, CORSConfiguration: { CORSRules: [rule] } }));
  client.destroy();
  return {
    S3_BUCKET: bucket,
    S3_ENDPOINT: s3.endpoint,
    S3_UPLOADS: place === 's3-direct' ? 'direct' : 'through',
    AWS_REGION: s3.region,
    AWS_ACCESS_KEY_ID: s3.accessKeyId,
    AWS_SECRET_ACCESS_KEY: s3.secretAccessKey,
  };
}

interface StoredFile {
  readonly path: string;
  readonly size: number;
  readonly etag: string;
}

async function stored(rig: Rig, path: string): Promise<StoredFile | undefined> {
  const { body } = await rig.api().get(`${FILES}?folder=${encodeURIComponent(FOLDER)}`);
  return (body.items ?? []).find((file: StoredFile) => file.path === path);
}

/** Sends one file, and reads it back equal. */
async function sendWhole(
  rig: Rig,
  send: Send,
  filename: string,
  contentType: string,
  bytes: Buffer,
): Promise<StoredFile> {
  const form = await signed(rig.api(), { folder: FOLDER, filename, contentType, sizeBytes: bytes.length });
  const status = await within(`upload of ${filename}`, 60_000, send(form, bytes, false));
  if (status !== null) expectNumber(`status of ${filename}`, status, 204);
  const look = async () => {
    for (;;) {
      const found = await stored(rig, form.resource);
      // A file that was acknowledged is stored.
      if (found !== undefined || status !== null) return found;
      await sleep(50);
    }
  };
  const file = await within(`arrival of ${filename}`, 60_000, look());
  expectNumber(`bytes of ${filename}`, file?.size ?? 0, bytes.length);
  const { url, authorization: headers } = rig.api();
  const answer = await fetch(`${url}${FILES}/content?path=${encodeURIComponent(form.resource)}`, { headers });
  const found = Buffer.from(await answer.arrayBuffer());
  expectEqual(`hash of ${filename}`, hash('sha256', found), hash('sha256', bytes));
  return file as StoredFile;
}

/** One byte more than was signed: it is refused, and the file at this path stays. */
async function sendTooMuch(rig: Rig, place: Place, send: Send, filename: string, was: StoredFile): Promise<void> {
  const contentType = 'application/octet-stream';
  const form = await signed(rig.api(), { folder: FOLDER, filename, contentType, sizeBytes: LARGEST });
  const status = await within(`upload of ${filename}`, 60_000, send(form, randomBytes(LARGEST + 1), true));
  // A gateway may hide its refusals from pages of another origin; this server does not.
  const isHidden = status === null || (status === 0 && place === 's3-direct');
  if (!isHidden) expectNumber(`status of ${filename} with a byte too many`, status, 400);
  expectEqual(`${filename} after a byte too many`, (await stored(rig, form.resource))?.etag, was.etag);
}

async function askAgent(rig: Rig, name: string, path: string, sentence: string): Promise<void> {
  const reader = await rig.api().complete({ message: `/read ${path}`, sandboxFiles: [{ name, path }] });
  const answer = answerOf(await reader.whole());
  expectEqual(`what the agent says of ${path}`, answer.includes(sentence) ? sentence : answer, sentence);
}

export const proof: Proof = {
  name: 'upload',
  minutes: 2,
  faults: { 'lose-a-byte': /^bytes of .*: expected \d+, found \d+\.$/m },
  figures: (scale) => ({ places: 3, senders: 4, files: scale(15, 24), read_by_agent: 12, too_large: scale(3, 12) }),
  async run({ fault, scale }) {
    for (const name of ['chromium', 's3', 'curl'] as const) {
      const missing = await missingService(name);
      if (missing !== null) throw new LeftOut(`upload: ${missing}.`);
    }
    await using browser = await Browser.start();
    const counts = { places: 0, senders: 0, files: 0, bytes: 0, read_by_agent: 0, too_large: 0 };
    for (const place of PLACES) {
      await using rig = await Rig.start({ fault, scripted: false, env: await settingsOf(place) });
      const large = { apiIntegrationId: 'demo', folder: FOLDER, filename: 'a', contentType: 'text/plain' };
      const { status } = await rig.api().post('/create_agency_upload', { ...large, sizeBytes: LARGEST + 1 });
      expectNumber('status of a signing of one byte too many', status, 400);
      const senders = Object.entries(sendersOf(browser, rig));
      for (const [name, send] of senders) {
        const sentence = `The word is ${randomBytes(12).toString('hex')}.`;
        const filename = `${name} — Größe 😀.txt`;
        const text = Buffer.from(`First line\n${sentence}\n`);
        const { path } = await sendWhole(rig, send, filename, 'text/plain; charset=utf-8', text);
        await askAgent(rig, filename, path, sentence);
        counts.files += 1;
        counts.bytes += text.length;
        counts.read_by_agent += 1;
        // The short form sends the large file by one sender: the bytes are the same for all.
        if (scale(name !== 'browser fetch', false)) continue;
        const file = await sendWhole(rig, send, `${name}.bin`, 'application/octet-stream', randomBytes(LARGEST));
        await sendTooMuch(rig, place, send, `${name}.bin`, file);
        counts.files += 1;
        counts.bytes += LARGEST;
        counts.too_large += 1;
      }
      counts.senders = senders.length;
      counts.places += 1;
    }
    return counts;
  },
};
