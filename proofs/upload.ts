import { hash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ApiClient, answerOf, type ServerProcess } from '@runwire/test-kit';
import { missingService } from '../test/support/services.ts';
import { Browser } from './support/browser.ts';
import { DataFolder } from './support/data-folder.ts';
import { FILE_PLACES, type FilePlace, settingsOf } from './support/file-places.ts';
import { expectEqual, expectNumber, LeftOut, type Proof, Shortfall, within } from './support/proof.ts';
import { signed } from './support/signed-form.ts';
import { startServer } from './support/start-server.ts';
import { type Sender, senders } from './support/upload-senders.ts';

const LARGEST = 20_971_520;
const FOLDER = '/app/mnt/members/ann';
const WAIT_MS = 60_000;
const FILES = '/v2/integrations/demo/files';

interface Stored {
  readonly size: number;
  readonly etag: string;
}

async function stored(api: ApiClient, path: string): Promise<Stored | null> {
  const { body } = await api.get(`${FILES}?folder=${encodeURIComponent(FOLDER)}`);
  return (body.items ?? []).find((file: { readonly path: string }) => file.path === path) ?? null;
}

async function bytesOf(api: ApiClient, path: string): Promise<Buffer> {
  const address = `${api.url}${FILES}/content?path=${encodeURIComponent(path)}`;
  const answer = await fetch(address, { headers: api.authorization });
  expectNumber(`status of the content of ${path}`, answer.status, 200);
  return Buffer.from(await answer.arrayBuffer());
}

/** A form's answer is not seen by its page: the file itself is looked for. */
async function arrived(api: ApiClient, path: string): Promise<Stored> {
  const look = async () => {
    for (;;) {
      const file = await stored(api, path);
      if (file !== null) return file;
      await sleep(50);
    }
  };
  return within(`arrival of ${path}`, WAIT_MS, look());
}

/** Sends one file whole, and reads it back equal. */
async function send(server: ServerProcess, sender: Sender, filename: string, contentType: string, bytes: Buffer) {
  const form = await signed(server.api, { folder: FOLDER, filename, contentType, sizeBytes: bytes.length });
  const status = await sender.send(form, bytes, false);
  if (status !== null) expectNumber(`status of ${filename}`, status, 204);
  const waits = status === null;
  const file = waits ? await arrived(server.api, form.resource) : await stored(server.api, form.resource);
  if (file === null) throw new Shortfall(`${filename}: expected once it was acknowledged, found none.`);
  expectNumber(`bytes of ${filename}`, file.size, bytes.length);
  const found = await bytesOf(server.api, form.resource);
  expectEqual(`hash of ${filename}`, hash('sha256', found, 'hex'), hash('sha256', bytes, 'hex'));
  return { form, file };
}

/** One byte more than was signed, at the same path: the file that is there stays as it is. */
async function sendTooMuch(
  { server, place }: { readonly server: ServerProcess; readonly place: FilePlace },
  sender: Sender,
  filename: string,
  was: Stored,
): Promise<void> {
  const contentType = 'application/octet-stream';
  const form = await signed(server.api, { folder: FOLDER, filename, contentType, sizeBytes: LARGEST });
  const status = await sender.send(form, randomBytes(LARGEST + 1), true);
  // A gateway may keep its refusals from pages of another origin; this server does not.
  const isUnseen = status === null || (status === 0 && place === 's3-direct');
  if (!isUnseen) expectNumber(`status of ${filename} with a byte too many`, status, 400);
  expectEqual(`${filename} after a byte too many`, (await stored(server.api, form.resource))?.etag, was.etag);
}

async function askAgent(server: ServerProcess, filename: string, path: string, sentence: string): Promise<void> {
  const sandboxFiles = [{ name: filename, path }];
  const reader = await server.api.complete({ message: `/read ${path}`, sandboxFiles });
  await reader.whole();
  const answer = answerOf(reader.frames);
  expectEqual(`what the agent says of ${path}`, answer.includes(sentence) ? sentence : answer, sentence);
}

async function play(place: FilePlace, browser: Browser, fault: string | null, short: boolean) {
  using folder = new DataFolder();
  await using server = await startServer(fault, { dataDir: folder.path, env: await settingsOf(place) });
  const { status } = await server.api.post('/create_agency_upload', {
    apiIntegrationId: 'demo',
    folder: FOLDER,
    filename: 'large.bin',
    contentType: 'application/octet-stream',
    sizeBytes: LARGEST + 1,
  });
  expectNumber('status of a signing of one byte too many', status, 400);
  const counts = { files: 0, bytes: 0, read_by_agent: 0, too_large: 0 };
  for (const sender of senders(browser)) {
    const sentence = `The word is ${randomBytes(12).toString('hex')}.`;
    const name = `${sender.name} — Größe 😀.txt`;
    const text = Buffer.from(`First line\n${sentence}\n`);
    const { form } = await send(server, sender, name, 'text/plain; charset=utf-8', text);
    await askAgent(server, name, form.resource, sentence);
    counts.files += 1;
    counts.bytes += text.length;
    counts.read_by_agent += 1;
    // In short by one sender of each place: the bytes are the same for all.
    if (short && sender.name !== 'browser fetch') continue;
    const large = randomBytes(LARGEST);
    const { file } = await send(server, sender, `${sender.name}.bin`, 'application/octet-stream', large);
    await sendTooMuch({ server, place }, sender, `${sender.name}.bin`, file);
    counts.files += 1;
    counts.bytes += large.length;
    counts.too_large += 1;
  }
  process.stdout.write(`${place}: ${counts.files} files, ${counts.bytes} bytes\n`);
  return counts;
}

export const proof: Proof = {
  name: 'upload',
  minutes: 2,
  faults: {
    'lose-a-byte': /^bytes of .*: expected \d+, found \d+\.$/m,
  },
  figures: (scale) => ({ places: 3, senders: 4, files: scale(15, 24), read_by_agent: 12, too_large: scale(3, 12) }),
  async run({ fault, scale }) {
    const short = scale(true, false);
    for (const name of ['chromium', 's3', 'curl'] as const) {
      const missing = await missingService(name);
      if (missing !== null) throw new LeftOut(`upload: ${missing}.`);
    }
    await using browser = await Browser.start();
    const all = { places: 0, senders: senders(browser).length, files: 0, bytes: 0, read_by_agent: 0, too_large: 0 };
    for (const place of FILE_PLACES) {
      const { files, bytes, read_by_agent, too_large } = await play(place, browser, fault, short);
      all.places += 1;
      all.files += files;
      all.bytes += bytes;
      all.read_by_agent += read_by_agent;
      all.too_large += too_large;
    }
    return all;
  },
};
