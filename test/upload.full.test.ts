import { execFile } from 'node:child_process';
import { hash, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { Rig, s3Client, s3Settings, sharedS3, toAnswer } from '@runwire/test-kit';
import { count, plantedFault, scale } from '@runwire/test-kit/scale.ts';
import { addTo, expectEqual, until, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import { CURL, missingService } from './support/services.ts';
import { Browser } from './support/upload-browser.ts';
import { download, type SignedForm, sendForm, sign, signing } from './support/uploads.ts';

const LARGEST = 20_971_520;
const FOLDER = '/app/mnt/members/ann';
const BINARY = 'application/octet-stream';
const FILES = '/v2/integrations/demo/files';
/** The store of a server's files, and the host that receives the forms. */
const PLACES = ['disk', 's3-direct', 's3-through'] as const;
type Place = (typeof PLACES)[number];

/** Sends a form; resolves to the status, or null if the sender cannot see it. */
type Send = (form: SignedForm, bytes: Uint8Array, isRefused: boolean) => Promise<number | null>;

const getSenders = (browser: Browser, rig: Rig): Readonly<Record<string, Send>> => ({
  curl: async ({ uploadUrl, uploadFields }, bytes) => {
    const file = join(rig.dataDir, 'sent');
    writeFileSync(file, bytes);
    const fields = Object.entries(uploadFields).flatMap(([name, value]) => ['--form-string', `${name}=${value}`]);
    const options = ['-sS', '-o', '/dev/null', '-w', '%{http_code}', '--max-time', '60'];
    return Number((await promisify(execFile)(CURL, [...options, ...fields, '-F', `file=@${file}`, uploadUrl])).stdout);
  },
  fetch: sendForm,
  'browser fetch': (form, bytes, isRefused) => browser.upload('fetch', form, bytes, isRefused),
  'browser form': (form, bytes, isRefused) => browser.upload('form', form, bytes, isRefused),
});

/** The settings of a server of this place; on S3 with its own bucket, to which pages of any origin may post. */
async function getSettings(place: Place): Promise<Record<string, string>> {
  if (place === 'disk') return {};
  const s3 = await sharedS3();
  const settings = await s3Settings(s3, { S3_UPLOADS: place === 's3-direct' ? 'direct' : 'through' });
  const { PutBucketCorsCommand } = await import('@aws-sdk/client-s3');
  const client = await s3Client(s3);
  const rule = { AllowedOrigins: ['*'], AllowedMethods: ['POST'], AllowedHeaders: ['*'] };
  await client.send(new PutBucketCorsCommand({ Bucket: settings.S3_BUCKET, CORSConfiguration: { CORSRules: [rule] } }));
  client.destroy();
  return settings;
}

async function stored(rig: Rig, path: string): Promise<{ size: number; etag: string } | undefined> {
  const { body } = await rig.api().get(`${FILES}?folder=${encodeURIComponent(FOLDER)}`);
  return body.items?.find((file: { path: string }) => file.path === path);
}

/** Sends one file, and reads it back equal; resolves to its path. */
async function sendWhole(rig: Rig, send: Send, filename: string, contentType: string, bytes: Buffer): Promise<string> {
  const form = await sign(rig.api(), bytes.length, { folder: FOLDER, filename, contentType });
  const status = await within(`upload of ${filename}`, WAIT_MS, send(form, bytes, false));
  if (status !== null) expectEqual(`status of ${filename}`, status, 204);
  // A file that was acknowledged is stored.
  else await until(`arrival of ${filename}`, async () => (await stored(rig, form.resource)) !== undefined);
  expectEqual(`bytes of ${filename}`, (await stored(rig, form.resource))?.size ?? 0, bytes.length);
  const found = await (await download(rig.api(), form.resource)).bytes();
  expectEqual(`hash of ${filename}`, hash('sha256', found), hash('sha256', bytes));
  return form.resource;
}

/** One byte more than was signed: it is refused, and the file at this path stays. */
async function sendTooMuch(rig: Rig, place: Place, send: Send, filename: string): Promise<void> {
  const form = await sign(rig.api(), LARGEST, { folder: FOLDER, filename, contentType: BINARY });
  const before = await stored(rig, form.resource);
  const status = await within(`upload of ${filename}`, WAIT_MS, send(form, randomBytes(LARGEST + 1), true));
  // A gateway may hide its refusals from pages of another origin; this server does not.
  const isHidden = status === null || (status === 0 && place === 's3-direct');
  if (!isHidden) expectEqual(`status of ${filename} with a byte too many`, status, 400);
  expectEqual(`${filename} after a byte too many`, (await stored(rig, form.resource))?.etag, before?.etag);
}

async function askAgent(rig: Rig, name: string, path: string, sentence: string): Promise<void> {
  const reader = await rig.api().complete({ message: `/read ${path}`, sandboxFiles: [{ name, path }] });
  const answer = toAnswer(await reader.whole());
  expectEqual(`what the agent says of ${path}`, answer.includes(sentence) ? sentence : answer, sentence);
}

test('uploads arrive complete from every client, on disk and on S3', async (t) => {
  const fault = plantedFault();
  for (const name of ['chromium', 's3', 'curl'] as const) {
    const missing = await missingService(name);
    if (missing !== null) return t.skip(`upload: ${missing}.`);
  }
  await using browser = await Browser.start();
  const counts = { places: 0, senders: 0, files: 0, bytes: 0, read_by_agent: 0, too_large: 0 };
  for (const place of PLACES) {
    await using rig = await Rig.start({ fault, scripted: false, env: await getSettings(place) });
    const { status } = await rig.api().post('/create_agency_upload', signing(LARGEST + 1, { folder: FOLDER }));
    expectEqual('status of a signing of one byte too many', status, 400);
    const senders = Object.entries(getSenders(browser, rig));
    addTo(counts, { places: 1, senders: senders.length - counts.senders });
    for (const [name, send] of senders) {
      const sentence = `The word is ${randomBytes(12).toString('hex')}.`;
      const filename = `${name} — Größe 😀.txt`;
      const text = Buffer.from(`First line\n${sentence}\n`);
      const path = await sendWhole(rig, send, filename, 'text/plain; charset=utf-8', text);
      await askAgent(rig, filename, path, sentence);
      addTo(counts, { files: 1, bytes: text.length, read_by_agent: 1 });
      // The short form sends the large file by one sender: the bytes are the same for all.
      if (scale(name !== 'browser fetch', false)) continue;
      await sendWhole(rig, send, `${name}.bin`, BINARY, randomBytes(LARGEST));
      await sendTooMuch(rig, place, send, `${name}.bin`);
      addTo(counts, { files: 1, bytes: LARGEST, too_large: 1 });
    }
  }
  count(counts);
});
