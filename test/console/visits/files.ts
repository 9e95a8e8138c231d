import { mkdtempDisposableSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expectAtMost, expectEqual } from '@runwire/test-kit/shortfall.ts';
import type { Page } from 'playwright-core';
import { at, upload } from '../../support/uploads.ts';
import type { ConsoleVisit, VisitContext } from '../visit.ts';

const MAX_BYTES = 20_971_520;

/** One red pixel. */
const PICTURE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

const getAddress = (integration: string, search: Readonly<Record<string, string>> = {}) =>
  `integrations/${integration}/files?${new URLSearchParams(search)}`;

/** A folder of the visit's own, with these files. */
async function getFolder(
  { api, integration, unique }: VisitContext,
  files: Readonly<Record<string, string | Uint8Array>>,
): Promise<string> {
  const folder = `/app/mnt/${unique('folder').replaceAll(' ', '-')}`;
  for (const [name, bytes] of Object.entries(files)) {
    await upload(api, bytes, { apiIntegrationId: integration, ...at(`${folder}/${name}`) });
  }
  return folder;
}

const remove = ({ api, integration }: VisitContext, path: string) =>
  api.delete(`/v2/integrations/${integration}/files?${new URLSearchParams({ path, recursive: 'true' })}`);

const link = (page: Page, name: string) => page.getByRole('link', { name, exact: true });
const alert = (page: Page, text: RegExp) => page.getByRole('alert').filter({ hasText: text }).waitFor();

/** Chooses an action in the menu of an item. */
async function act(page: Page, name: string, action: string): Promise<void> {
  await page.getByRole('button', { name: `More for ${name}` }).click();
  await page.getByRole('menuitem', { name: action }).click();
}

/** The names and the bytes of what is saved as an archive, for a check that needs no archive program. */
async function saveArchive(page: Page, save: () => Promise<void>): Promise<{ name: string; text: string }> {
  const [saved] = await Promise.all([page.waitForEvent('download'), save()]);
  return { name: saved.suggestedFilename(), text: readFileSync(await saved.path(), 'latin1') };
}

async function closeDialog(page: Page): Promise<void> {
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
}

interface FilePayload {
  readonly name: string;
  readonly mimeType: string;
  readonly buffer: Buffer;
}

const textFile = (name: string, buffer = Buffer.from('Green is for go.\n')): FilePayload => ({
  ...{ name, mimeType: 'text/plain', buffer },
});

async function chooseFiles(
  page: Page,
  folder: string,
  files: readonly FilePayload[] | readonly string[],
): Promise<void> {
  await page.getByRole('button', { name: 'Upload files' }).first().click();
  const dialog = page.getByRole('dialog', { name: 'Upload files' });
  await dialog.getByLabel('Folder').fill(folder);
  await dialog.getByLabel('Files').setInputFiles(files as FilePayload[] | string[]);
  await dialog.getByRole('button', { name: 'Upload' }).click();
}

/** Drops files onto the page as a person does. */
async function drop(page: Page, names: readonly string[]): Promise<void> {
  const data = await page.evaluateHandle(`(() => {
    const data = new DataTransfer();
    for (const name of ${JSON.stringify(names)}) data.items.add(new File(['Dropped.'], name, { type: 'text/plain' }));
    return data;
  })()`);
  const main = page.getByRole('main');
  await main.dispatchEvent('dragover', { dataTransfer: data });
  await page.getByText('Drop the files to upload them').waitFor();
  await main.dispatchEvent('drop', { dataTransfer: data });
}

export const filesVisits: readonly ConsoleVisit[] = [
  {
    name: 'browse-files',
    async run(visit) {
      const { page, integration, seed } = visit;
      await visit.open(getAddress(integration));
      await visit.checkPage('files');
      await link(page, seed.folder.slice('/app/mnt/'.length)).click();
      await link(page, 'orders.csv').waitFor();
      const row = page.getByRole('row').filter({ has: link(page, 'orders.csv') });
      const actions = row.getByRole('button');
      const names = await actions.evaluateAll((buttons) => buttons.map((button) => button.ariaLabel));
      expectEqual('actions of a file', names, ['Download orders.csv', 'More for orders.csv']);
      const [cell, download] = await Promise.all([
        row.getByRole('cell').last().boundingBox(),
        actions.first().boundingBox(),
      ]);
      expectAtMost('pixels of the first action that are cut off', (cell?.x ?? 0) - (download?.x ?? 0), 0);
      await visit.checkPage('files-folder');
      await link(page, '2026').click();
      await link(page, 'november.json').waitFor();
      await page.getByRole('navigation', { name: 'Folder' }).getByRole('link', { name: 'reports' }).click();
      await link(page, 'orders.csv').waitFor();
    },
  },
  {
    name: 'no-files',
    async run(visit) {
      const { page, seed } = visit;
      await visit.open(getAddress(seed.otherIntegration));
      await page.getByRole('heading', { name: 'No files yet' }).waitFor();
      expectEqual('buttons that upload', await page.getByRole('button', { name: 'Upload files' }).count(), 1);
      await visit.checkPage('files-none');
    },
  },
  {
    name: 'preview-files',
    async run(visit) {
      const { page, integration, seed } = visit;
      await visit.open(getAddress(integration, { folder: seed.folder }));
      await link(page, 'summary.md').click();
      const content = page.getByRole('region', { name: 'Content of summary.md' });
      await content.getByRole('heading', { name: 'Summary' }).waitFor();
      await visit.checkPage('files-preview-markdown');
      await page.getByRole('tab', { name: 'Text' }).click();
      await page.getByRole('region', { name: 'Text of summary.md' }).getByText('Everything *arrived*.').waitFor();
      await visit.checkPage('files-preview-text');
      await closeDialog(page);
      await link(page, 'orders.csv').click();
      await page.getByRole('columnheader', { name: 'parcels' }).waitFor();
      await page.getByRole('cell', { name: 'A-1001' }).waitFor();
      await visit.checkPage('files-preview-table');
      await closeDialog(page);
      await link(page, 'parcel.png').click();
      await page.getByText('The browser cannot read this image.').waitFor();
      await visit.checkPage('files-preview-broken-image');
      await closeDialog(page);
      const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
      const folder = await getFolder(visit, {
        'long.txt': 'All lines are the same.\n'.repeat(20_000),
        'damaged.txt': Buffer.from('caf\xe9', 'latin1'),
        'drawing.svg': svg,
        'picture.png': PICTURE,
        'program.bin': Uint8Array.of(0xff, 0, 0xfe, 0),
      });
      await visit.open(getAddress(integration, { folder, file: `${folder}/long.txt` }));
      await page.getByText('Only the first 256 kB are shown').waitFor();
      await visit.checkPage('files-preview-cut');
      await closeDialog(page);
      await link(page, 'picture.png').click();
      await page.getByText('PNG image, 1 × 1 pixels').waitFor();
      await visit.checkPage('files-preview-image');
      await closeDialog(page);
      await link(page, 'drawing.svg').click();
      await page.getByRole('region', { name: 'Text of drawing.svg' }).getByText(svg).waitFor();
      await closeDialog(page);
      await link(page, 'damaged.txt').click();
      await page.getByText('Bytes that are not UTF-8').waitFor();
      await closeDialog(page);
      await link(page, 'program.bin').click();
      await page.getByText('This file is neither text nor').waitFor();
      await visit.checkPage('files-preview-binary');
      await remove(visit, folder);
    },
  },
  {
    name: 'upload-files',
    async run(visit) {
      const { page, integration } = visit;
      const folder = await getFolder(visit, { 'first.txt': 'one' });
      await visit.open(getAddress(integration));
      await page.getByRole('button', { name: 'Upload files' }).click();
      await visit.checkPage('files-upload');
      await closeDialog(page);
      await chooseFiles(page, '/etc', [textFile('chosen.txt')]);
      await alert(page, /Name a folder below/);
      await visit.checkPage('files-upload-wrong-folder');
      await closeDialog(page);
      await chooseFiles(page, folder, [textFile('chosen.txt'), textFile('other.txt')]);
      await page.getByText('2 files uploaded.', { exact: true }).waitFor();
      await link(page, folder.slice('/app/mnt/'.length)).click();
      await link(page, 'chosen.txt').waitFor();
      await drop(page, ['dropped.txt']);
      await link(page, 'dropped.txt').waitFor();
      await link(page, '/app/mnt').click();
      await drop(page, ['dropped again.txt']);
      const dialog = page.getByRole('dialog', { name: 'Upload files' });
      await dialog.getByText('1 file chosen.').waitFor();
      await visit.checkPage('files-upload-dropped');
      await dialog.getByLabel('Folder').fill(folder);
      await dialog.getByRole('button', { name: 'Upload' }).click();
      await dialog.waitFor({ state: 'hidden' });
      await link(page, folder.slice('/app/mnt/'.length)).click();
      await link(page, 'dropped again.txt').waitFor();
      await remove(visit, folder);
    },
  },
  {
    name: 'upload-is-refused',
    async run(visit) {
      const { page, integration } = visit;
      const folder = await getFolder(visit, { 'taken/first.txt': 'one' });
      await visit.open(getAddress(integration, { folder }));
      // Sent as a path: Playwright needs long for large bytes.
      using temporary = mkdtempDisposableSync(join(tmpdir(), 'runwire-large-'));
      const large = join(temporary.path, 'large.txt');
      writeFileSync(large, Buffer.alloc(MAX_BYTES + 1));
      const chosen = [textFile('empty.txt', Buffer.alloc(0)), textFile('taken')];
      await visit.expectRefusal(409, async () => {
        await chooseFiles(page, folder, [large]);
        await page.getByText('The file is larger than 20 MiB. Upload a smaller file.').waitFor();
        await chooseFiles(page, folder, chosen);
        await page.getByText('The file is empty. Upload a file with content.').waitFor();
        await page.getByText('file_exists_as_folder').waitFor();
      });
      await visit.checkPage('files-upload-refused');
      await remove(visit, `${folder}/taken`);
      await visit.expectRefusal(409, async () => {
        await page.getByRole('button', { name: 'Try again to upload taken' }).click();
        await page.getByText('file_exists_as_folder').waitFor();
      });
      for (const name of ['empty.txt', 'large.txt', 'taken']) {
        await page.getByRole('button', { name: `Dismiss ${name}` }).click();
      }
      await page.getByRole('heading', { name: 'Uploads' }).waitFor({ state: 'hidden' });
    },
  },
  {
    name: 'upload-is-cancelled',
    async run(visit) {
      const { page, integration, rig } = visit;
      const folder = await getFolder(visit, { 'first.txt': 'one' });
      await visit.open(getAddress(integration, { folder }));
      const { session } = rig.getWatch(page);
      const slow = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 100_000 };
      await session.send('Network.enable');
      await session.send('Network.emulateNetworkConditions', slow);
      await chooseFiles(page, folder, [textFile('slow.txt', Buffer.alloc(5_000_000, 'a'))]);
      await page.getByText(/^slow\.txt: [1-9].* of 5 MB$/).waitFor({ state: 'attached' });
      await page.getByRole('button', { name: 'Cancel the upload of slow.txt' }).click();
      await page.getByRole('heading', { name: 'Uploads' }).waitFor({ state: 'hidden' });
      await session.send('Network.emulateNetworkConditions', { ...slow, uploadThroughput: -1 });
      await visit.open(getAddress(integration, { folder }));
      await link(page, 'first.txt').waitFor();
      expectEqual('files after a cancelled upload', await link(page, 'slow.txt').count(), 0);
      await remove(visit, folder);
    },
  },
  {
    name: 'download-a-file',
    async run(visit) {
      const { page, integration, seed } = visit;
      await visit.open(getAddress(integration, { folder: seed.folder, file: `${seed.folder}/orders.csv` }));
      const dialog = page.getByRole('dialog', { name: 'orders.csv' });
      const [saved] = await Promise.all([
        page.waitForEvent('download'),
        dialog.getByRole('button', { name: 'Download orders.csv' }).click(),
      ]);
      expectEqual('name of the download', saved.suggestedFilename(), 'orders.csv');
      expectEqual('content', readFileSync(await saved.path(), 'utf8'), 'order,parcels\nA-1001,2\n');
    },
  },
  {
    name: 'a-file-is-gone',
    async run(visit) {
      const { page, integration } = visit;
      const folder = await getFolder(visit, { 'gone.txt': 'one', 'late.txt': 'two', 'stays.txt': 'three' });
      await visit.open(getAddress(integration, { folder }));
      await link(page, 'gone.txt').waitFor();
      await remove(visit, `${folder}/gone.txt`);
      await visit.expectRefusal(404, async () => {
        await link(page, 'gone.txt').click();
        await alert(page, /No file has this path/);
      });
      await visit.checkPage('files-preview-gone');
      await closeDialog(page);
      await link(page, 'gone.txt').waitFor({ state: 'hidden' });
      await visit.expectRefusal(404, async () => {
        await act(page, 'late.txt', 'Delete');
        await remove(visit, `${folder}/late.txt`);
        await page.getByRole('button', { name: 'Delete file' }).click();
        await alert(page, /No file has this path/);
      });
      await visit.checkPage('files-delete-gone');
      await closeDialog(page);
      await remove(visit, folder);
    },
  },
  {
    name: 'delete-files',
    async run(visit) {
      const { page, integration } = visit;
      const folder = await getFolder(visit, { 'a.txt': 'one', 'b.txt': 'two', 'deep/c.txt': 'three' });
      await visit.open(getAddress(integration, { folder }));
      await act(page, 'a.txt', 'Delete');
      await visit.checkPage('files-delete');
      await page.getByRole('button', { name: 'Delete file' }).click();
      await link(page, 'a.txt').waitFor({ state: 'hidden' });
      await act(page, 'deep', 'Delete');
      await visit.checkPage('files-delete-folder');
      await page.getByRole('button', { name: 'Delete folder' }).click();
      await link(page, 'deep').waitFor({ state: 'hidden' });
      await act(page, 'b.txt', 'Delete');
      await page.getByRole('button', { name: 'Delete file' }).click();
      await link(page, 'reports').waitFor();
    },
  },
  {
    name: 'find-and-choose-files',
    async run(visit) {
      const { page, integration } = visit;
      const files = { 'b.txt': 'two, longer', 'a.txt': 'one', 'deep/inner/c.txt': 'three', 'deep/d.md': '# D' };
      const folder = await getFolder(visit, files);
      await visit.open(getAddress(integration, { folder }));
      await link(page, 'a.txt').waitFor();
      await page.getByLabel('Sort by').selectOption('Size, largest first');
      await page.waitForURL(/sort=size/);
      const names = () => page.locator('tbody .file-name').allTextContents();
      expectEqual('the largest first', (await names()).join(), 'b.txt,a.txt,deep');
      await page.getByLabel('Search').fill('C.T');
      await link(page, 'deep/inner/c.txt').waitFor();
      await visit.checkPage('files-search');
      await page.getByLabel('Search').fill('nothing has this');
      await page.getByRole('heading', { name: 'No file has this text in its name' }).waitFor();
      await visit.checkPage('files-search-empty');
      await visit.open(getAddress(integration, { folder }));
      await page.getByLabel('Choose a.txt').check();
      await page.getByLabel('Choose deep').check();
      await page.getByText('2 items chosen, 3 B').waitFor();
      await visit.checkPage('files-chosen');
      const archive = await saveArchive(page, () => page.getByRole('button', { name: 'Download chosen' }).click());
      expectEqual('name of the archive', archive.name, `${folder.slice('/app/mnt/'.length)}.zip`);
      for (const part of ['a.txtone', 'deep/inner/c.txtthree', 'deep/d.md# D']) {
        expectEqual(`the archive has ${part}`, archive.text.includes(part), true);
      }
      const whole = await saveArchive(page, () => page.getByRole('button', { name: 'Download deep' }).click());
      expectEqual('name of the folder', [whole.name, whole.text.includes('a.txt')].join(), 'deep.zip,false');
      await page.getByRole('button', { name: 'Delete chosen' }).click();
      await visit.checkPage('files-delete-chosen');
      await page.getByRole('button', { name: 'Delete 2 items' }).click();
      await link(page, 'deep').waitFor({ state: 'hidden' });
      await link(page, 'b.txt').waitFor();
      await remove(visit, folder);
    },
  },
  {
    name: 'rename-a-file',
    async run(visit) {
      const { page, api, integration } = visit;
      const folder = await getFolder(visit, { 'old.txt': 'content', 'taken.txt': 'other' });
      await visit.open(getAddress(integration, { folder }));
      await act(page, 'old.txt', 'Rename');
      const dialog = page.getByRole('dialog', { name: /^Rename / });
      await dialog.getByLabel('Name').fill('taken.txt');
      await dialog.getByRole('button', { name: 'Rename' }).click();
      await alert(page, /has an item with the name/);
      await visit.checkPage('files-rename');
      await dialog.getByLabel('Name').fill('new.txt');
      await visit.expectRefusal(404, async () => {
        await dialog.getByRole('button', { name: 'Rename' }).click();
        await link(page, 'new.txt').waitFor();
      });
      await link(page, 'old.txt').waitFor({ state: 'hidden' });
      const { body } = await api.get(`/v2/integrations/${integration}/files?${new URLSearchParams({ folder })}`);
      const found = body.items.map(({ name, size }: { name: string; size: number }) => [name, size]);
      expectEqual('files after the change', found, [
        ['new.txt', 7],
        ['taken.txt', 5],
      ]);
      await remove(visit, folder);
    },
  },
  {
    name: 'wrong-folders',
    async run(visit) {
      const { page, integration } = visit;
      await visit.expectRefusal(404, () => visit.open(getAddress(integration, { folder: '/app/mnt/none' })));
      await page.getByRole('heading', { name: 'This folder has no files' }).waitFor();
      await visit.checkPage('files-no-folder');
      await visit.expectRefusal(400, () => visit.open(getAddress(integration, { folder: '/etc' })));
      await alert(page, /folder must begin with/);
      await visit.checkPage('files-wrong-folder');
      await visit.expectRefusal(404, () => visit.open(getAddress('no-such-integration')));
      await alert(page, /No integration has this id/);
      await visit.checkPage('files-no-integration');
    },
  },
];
