import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Answer, Rig } from '@runwire/test-kit';
import { count, plantedFault } from '@runwire/test-kit/scale.ts';
import { expectEqual } from '@runwire/test-kit/shortfall.ts';
import { newFileBlobKey } from '../packages/server/src/storage/blob-store.ts';
import { askStore, storedState } from './support/ask-store.ts';
import { download, type SignedForm, sendForm, signing } from './support/uploads.ts';

interface Item {
  readonly id: string;
  /** One field or several, with ` | ` between them. */
  readonly field: string;
  readonly expect: 'reject' | 'accept' | 'safe' | 'choose' | 'reject-or-accept';
  readonly reason: string;
  readonly value?: unknown;
  readonly name?: string;
  readonly body_hex?: string;
}

const { items, collision_pairs: pairs } = JSON.parse(
  readFileSync(new URL('data/bad-paths.json', import.meta.url), 'utf8'),
) as {
  items: readonly Item[];
  collision_pairs: readonly { readonly a: string; readonly b: string; readonly why: string }[];
};
/** Files that a server would reach that repairs a path or confuses two names. */
const BAIT = ['a.txt', 'b.txt', 'x', 'a/b.txt', 'a b.txt', 'u/42/photo.png', 'mnt/a.txt', 'etc/passwd', 'proc/1/root'];
/** Items that stand for something on a disk. */
const ON_DISK: Readonly<Record<string, string>> = {
  '{SYMLINK_TO_OUTSIDE}': '/app/mnt/special/link.txt',
  '{FIFO_OR_DEVICE}': '/app/mnt/special/fifo',
};
const toItems = (field: string) => items.filter((item) => item.field.split(' | ').includes(field));
const getName = (path: string) => path.slice(path.lastIndexOf('/') + 1);
const getFolder = (path: string) => path.slice(0, path.lastIndexOf('/'));
/** True if the item must be accepted, false if it must be refused, null if both are right. */
const isGood = ({ id, expect }: Item) =>
  expect === 'accept' ? true : expect === 'reject' || id === 'path-109' ? false : null;

/** Files that no caller uploaded: as rows with copies of the first file's bytes, and as things on the disk. */
async function layBait(dataDir: string): Promise<void> {
  const columns = 'size_bytes, etag, content_type, modified_at';
  const [first] = await askStore(dataDir, 'select blob_key from files limit 1');
  const blobPath = (key: string) => join(dataDir, 'blobs', key.slice(0, 2), key);
  for (const path of BAIT) {
    const key = newFileBlobKey();
    cpSync(blobPath(String(first?.blob_key)), blobPath(key));
    const stored = `\u0001${path.replaceAll('/', '\u0001')}`;
    await askStore(
      dataDir,
      `insert into files (integration_id, path, blob_key, ${columns})
       select 'demo', '${stored}', '${key}', ${columns} from files where blob_key = '${first?.blob_key}'`,
    );
  }
  const special = join(dataDir, 'blobs', 'special');
  mkdirSync(special);
  writeFileSync(join(dataDir, 'outside.txt'), 'secret');
  symlinkSync(join(dataDir, 'outside.txt'), join(special, 'link.txt'));
  execFileSync('mkfifo', [join(special, 'fifo')]);
}

type Fields = Readonly<Record<string, unknown>>;
type Send = () => Promise<{ readonly status: number; readonly headers: Headers; readonly body?: unknown }>;

/** Sends paths to the server and compares what happens with what must happen. */
class PathChecks {
  readonly #rig: Rig;
  #chats = 0;
  /** The state after the last refusal; null if something was accepted since. */
  #state: Set<string> | null = null;

  constructor(rig: Rig) {
    this.#rig = rig;
  }

  sign = (fields: Fields) => this.#rig.api().post('/create_agency_upload', { ...signing(3), ...fields });
  signPath = (path: string, more: Fields = {}) =>
    this.sign({ folder: getFolder(path), filename: getName(path), ...more });
  complete = (fields: Fields) =>
    this.#rig.api().post('/get_completion_v2', { apiIntegrationId: 'demo', message: 'Hi', ...fields });

  signRaw(body: Buffer): Promise<Response> {
    const { url, authorization } = this.#rig.api();
    const headers = { ...authorization, 'content-type': 'application/json' };
    return fetch(`${url}/create_agency_upload`, { method: 'POST', headers, body: new Uint8Array(body) });
  }

  /** The answer is 400, and every row and file is as before. */
  async refused(what: string, send: Send): Promise<void> {
    const before = this.#state ?? (await storedState(this.#rig.dataDir));
    const { status, headers } = await send();
    expectEqual(`status of ${what}`, status, 400);
    expectEqual(`X-Agent-Run-Admitted for ${what}`, headers.get('x-agent-run-admitted') ?? 'false', 'false');
    this.#state = await storedState(this.#rig.dataDir);
    expectEqual(`stored for ${what}`, [...this.#state.symmetricDifference(before)], []);
  }

  /** A signed form brings a file that is listed and read under exactly this path. */
  async roundTrip(what: string, path: string, { status, body }: Answer): Promise<void> {
    expectEqual(`status of ${what}`, status, 200);
    expectEqual(`resource of ${what}`, body.resource, path);
    await this.send(what, body, 'abc');
    expectEqual(`bytes of ${what}`, await this.read(path, 'demo'), 'abc');
  }

  async send(what: string, form: SignedForm, bytes: string): Promise<void> {
    this.#state = null;
    expectEqual(`status of the upload of ${what}`, await sendForm(form, Buffer.from(bytes)), 204);
  }

  /** A file's bytes; null if its folder does not list it. */
  async read(path: string, integration: string): Promise<string | null> {
    const query = new URLSearchParams({ folder: getFolder(path), limit: '200' });
    const { items: listed } = (await this.#rig.api().get(`/v2/integrations/${integration}/files?${query}`)).body;
    const isListed = listed.some(({ name }: { readonly name: string }) => name === getName(path));
    return isListed ? (await download(this.#rig.api(), path, integration)).text() : null;
  }

  /** The completion is admitted, and its message shows the fields as they were sent. */
  async admitted(what: string, fields: Fields): Promise<void> {
    this.#chats += 1;
    this.#state = null;
    const chatId = `paths-${this.#chats}`;
    expectEqual(`status of ${what}`, (await this.complete({ chatId, ...fields })).status, 200);
    const { body } = await this.#rig.api().get(`/v2/integrations/demo/chats/${chatId}/messages`);
    const message = body.items.find(({ role }: { readonly role: string }) => role === 'user') ?? {};
    for (const [field, value] of Object.entries(fields)) expectEqual(`${field} of ${what}`, message[field], value);
  }
}

async function checkItem(checks: PathChecks, field: string, item: Item): Promise<void> {
  const what = `${item.id} (${item.field}: ${item.reason})`;
  const good = isGood(item);
  if (field === 'raw JSON body') {
    return checks.refused(what, () => checks.signRaw(Buffer.from(item.body_hex ?? '', 'hex')));
  }
  if (field === 'attachments[].filename') {
    // The host is this machine: nothing is fetched, and the message is admitted if its name is good.
    const attachments = [{ type: 'input_file', file_url: 'https://localhost/a', filename: item.value }];
    const isAccepted = good ?? (await checks.complete({ attachments })).status === 200;
    if (isAccepted) return checks.admitted(what, { attachments });
    return checks.refused(what, () => checks.complete({ attachments }));
  }
  if (field === 'sandboxFiles[].path') {
    const path = ON_DISK[String(item.value)] ?? String(item.value);
    const sandboxFiles = [{ name: item.name === '<final segment>' ? getName(path) : String(item.name), path }];
    // No item that may be either was uploaded.
    if (good !== true) return checks.refused(what, () => checks.complete({ sandboxFiles }));
    await checks.roundTrip(what, path, await checks.signPath(path));
    return checks.admitted(what, { sandboxFiles });
  }
  const fields = { folder: '/app/mnt/u/42', filename: 'a.txt', [getName(field.replace('.', '/'))]: item.value };
  const answer = good === false ? null : await checks.sign(fields);
  if (answer === null || (good === null && answer.status === 400))
    return checks.refused(what, () => checks.sign(fields));
  return checks.roundTrip(what, `${fields.folder}/${fields.filename}`, answer);
}

/** Two paths are two files, or the second is refused because one of them would be a folder of the other. */
async function checkPair(checks: PathChecks, a: string, b: string, why: string, integration: string): Promise<void> {
  const sign = (path: string) => checks.signPath(path, { apiIntegrationId: integration, sizeBytes: 1 });
  const first = await sign(a);
  expectEqual(`status of the first of two (${why})`, first.status, 200);
  const second = await sign(b);
  const excludes = b.startsWith(`${a}/`) || a.startsWith(`${b}/`);
  expectEqual(`status of the second of two (${why})`, second.status, excludes ? 409 : 200);
  await checks.send(why, first.body, 'a');
  if (excludes) expectEqual(`status of the second beside a file (${why})`, (await sign(b)).status, 409);
  else await checks.send(why, second.body, 'b');
  expectEqual(`first of two (${why})`, await checks.read(a, integration), 'a');
  if (!excludes) expectEqual(`second of two (${why})`, await checks.read(b, integration), 'b');
}

const FIELDS = [
  'create_agency_upload.folder',
  'create_agency_upload.filename',
  'raw JSON body',
  'sandboxFiles[].path',
  'attachments[].filename',
];

test('bad paths are refused everywhere; good ones come back byte for byte', async () => {
  const fault = plantedFault();
  await using rig = await Rig.start({ fault, scripted: false });
  const checks = new PathChecks(rig);
  const first = '/app/mnt/first/a.txt';
  await checks.roundTrip('a first file', first, await checks.signPath(first));
  await layBait(rig.dataDir);
  for (const [index, { a, b, why }] of pairs.entries()) {
    for (const apiIntegrationId of [`pair-${index}`, `turned-${index}`]) {
      await rig.prepare({ apiIntegrationId });
      const [one, other] = apiIntegrationId.startsWith('pair') ? [a, b] : [b, a];
      await checkPair(checks, one, other, why, apiIntegrationId);
    }
  }
  const counts = { reject: 0, accept: 0, safe: 0, either: 0, attachments: 0 };
  for (const field of FIELDS) {
    for (const item of toItems(field)) {
      await checkItem(checks, field, item);
      const { expect } = item;
      const kind = expect === 'choose' || expect === 'reject-or-accept' ? 'either' : expect;
      counts[field === 'attachments[].filename' ? 'attachments' : kind] += 1;
    }
  }
  const { attachments, ...others } = counts;
  const checked = Object.values(others).reduce((sum, count) => sum + count, 0);
  count({ items: expectEqual('items', checked, items.length), ...counts, pairs: pairs.length });
});
