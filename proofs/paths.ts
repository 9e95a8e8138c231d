import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { badPaths, expectedOf, folderOf, itemsOf, nameOf, type PathItem, type PathPair } from './support/bad-paths.ts';
import { DataFolder } from './support/data-folder.ts';
import { PathChecks } from './support/path-checks.ts';
import { expectEqual, expectNumber, type Proof } from './support/proof.ts';
import { startServer } from './support/start-server.ts';

const FOLDER = '/app/mnt/u/42';
/** Where a server would end up that repairs a path, or that takes another name for the file's own. */
const BAIT = ['a.txt', 'b.txt', 'x', 'a/b.txt', 'a b.txt', 'u/42/photo.png', 'mnt/a.txt', 'etc/passwd', 'proc/1/root'];
/** Where the items that stand for what only a disk has are to be found. */
const ON_DISK: Readonly<Record<string, string>> = {
  '{SYMLINK_TO_OUTSIDE}': '/app/mnt/special/link.txt',
  '{FIFO_OR_DEVICE}': '/app/mnt/special/fifo',
};

const shown = ({ id, field, reason }: PathItem) => `${id} (${field}: ${reason})`;

/** Files that nobody uploaded, as an agent or a person puts them there. */
function layBait(dataDir: string): void {
  const files = join(dataDir, 'mounts', 'demo', 'files');
  for (const path of BAIT) {
    mkdirSync(dirname(join(files, path)), { recursive: true });
    writeFileSync(join(files, path), 'bait');
  }
  mkdirSync(join(files, 'special'));
  writeFileSync(join(dataDir, 'outside.txt'), 'secret');
  symlinkSync(join(dataDir, 'outside.txt'), join(files, 'special', 'link.txt'));
  execFileSync('mkfifo', [join(files, 'special', 'fifo')]);
}

/** How often each expectation was met. */
type Tally = Record<string, number>;

function count(tally: Tally, expect: string): void {
  tally[expect] = (tally[expect] ?? 0) + 1;
}

async function checkSandboxPaths(checks: PathChecks, tally: Tally): Promise<void> {
  for (const item of itemsOf('sandboxFiles[].path')) {
    const path = ON_DISK[String(item.value)] ?? String(item.value);
    const name = item.name === '<final segment>' ? nameOf(path) : String(item.name);
    if (expectedOf(item) === 'accept') {
      await checks.upload(shown(item), path);
      await checks.completionTaken(shown(item), { name, path });
    } else {
      // None of those that may be either was uploaded.
      await checks.completionRefused(shown(item), { sandboxFiles: [{ name, path }] });
    }
    count(tally, item.expect);
  }
}

async function checkUploads(checks: PathChecks, field: 'folder' | 'filename', tally: Tally): Promise<void> {
  for (const item of itemsOf(`create_agency_upload.${field}`)) {
    const fields = { folder: FOLDER, filename: 'a.txt', [field]: item.value };
    const expected = expectedOf(item);
    if (expected === 'reject') {
      await checks.refused(shown(item), () => checks.sign(fields));
    } else {
      const answer = await checks.sign(fields);
      if (expected === null && answer.status === 400) await checks.refused(shown(item), () => checks.sign(fields));
      else await checks.roundTrip(shown(item), `${fields.folder}/${fields.filename}`, answer);
    }
    count(tally, item.expect);
  }
}

/** A host that resolves to this machine: no name makes the file fetched, and a good one makes it a message's. */
const FILE_URL = 'https://localhost/a';

async function checkAttachments(checks: PathChecks): Promise<number> {
  const items = itemsOf('attachments[].filename');
  for (const item of items) {
    const attachment = { type: 'input_file', file_url: FILE_URL, filename: item.value };
    const expected = expectedOf(item);
    if (expected === 'accept' || (expected === null && (await checks.isTaken({ attachments: [attachment] })))) {
      await checks.attachmentTaken(shown(item), attachment);
    } else {
      await checks.completionRefused(shown(item), { attachments: [attachment] });
    }
  }
  return items.length;
}

async function checkRawBodies(checks: PathChecks, tally: Tally): Promise<void> {
  for (const item of itemsOf('raw JSON body')) {
    const body = Buffer.from(item.body_hex ?? '', 'hex');
    // One whose answer is free is refused here: it is no JSON as the contract reads it.
    await checks.refused(shown(item), () => checks.raw(body));
    count(tally, item.expect);
  }
}

/** Two paths are two files with bytes of their own, or the second is refused because it cannot be there beside the first. */
async function checkPair(checks: PathChecks, { a, b, why }: PathPair, integration: string): Promise<void> {
  const sign = (path: string) =>
    checks.sign({ apiIntegrationId: integration, folder: folderOf(path), filename: nameOf(path), sizeBytes: 1 });
  const first = await sign(a);
  expectNumber(`status of the first of two (${why})`, first.status, 200);
  const second = await sign(b);
  const excludes = b.startsWith(`${a}/`) || a.startsWith(`${b}/`);
  expectNumber(`status of the second of two (${why})`, second.status, excludes ? 409 : 200);
  await checks.send(why, first.body, 'a');
  if (!excludes) await checks.send(why, second.body, 'b');
  expectEqual(`bytes of the first of two (${why})`, await checks.read(a, integration), 'a');
  if (excludes) {
    expectNumber(`status of the second beside a file (${why})`, (await sign(b)).status, 409);
    return;
  }
  expectEqual(`bytes of the second of two (${why})`, await checks.read(b, integration), 'b');
  expectEqual(
    `listed of two (${why})`,
    (await checks.names(folderOf(a), integration)).filter((name) => [a, b].map(nameOf).includes(name)).length,
    2,
  );
}

export const proof: Proof = {
  name: 'paths',
  minutes: 0.3,
  faults: {
    'no-folding': /^status of path-098 .*: expected 400, found 200/m,
    'forget-forms': /^status of the second of two \(a file and a folder.*: expected 409, found 200/m,
  },
  figures: () => ({ items: 108, reject: 73, accept: 10, safe: 23, either: 2, attachments: 45, pairs: 6 }),
  async run({ fault }) {
    using folder = new DataFolder();
    await using server = await startServer(fault, { dataDir: folder.path });
    const integrations = ['i', ...badPaths.collision_pairs.flatMap((_, place) => [`pair-${place}`, `turned-${place}`])];
    for (const apiIntegrationId of integrations) await server.api.post('/v2/integrations', { apiIntegrationId });
    const checks = new PathChecks(server.api, folder.path);
    await checks.upload('a first file', '/app/mnt/first/a.txt');
    layBait(folder.path);

    for (const [place, { a, b, why }] of badPaths.collision_pairs.entries()) {
      await checkPair(checks, { a, b, why }, `pair-${place}`);
      await checkPair(checks, { a: b, b: a, why }, `turned-${place}`);
    }
    const tally: Tally = {};
    await checkUploads(checks, 'folder', tally);
    await checkUploads(checks, 'filename', tally);
    await checkRawBodies(checks, tally);
    await checkSandboxPaths(checks, tally);
    const attachments = await checkAttachments(checks);
    const { reject = 0, accept = 0, safe = 0, ...either } = tally;
    const others = Object.values(either).reduce((sum, number) => sum + number, 0);
    const items = expectNumber('items', reject + accept + safe + others, badPaths.items.length);
    return { items, reject, accept, safe, either: others, attachments, pairs: badPaths.collision_pairs.length };
  },
};
