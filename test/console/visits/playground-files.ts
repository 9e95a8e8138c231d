import { expectEqual } from '@runwire/test-kit/shortfall.ts';
import type { Locator } from 'playwright-core';
import type { ConsoleVisit } from '../visit.ts';
import { chooseMember, ended, openPlayground, send, sentMessages } from './playground.ts';

const makeFiles = (name: string, type: string, bytes: string) =>
  `const files = new DataTransfer();
  files.items.add(new File([${bytes}], '${name}', { type: '${type}' }));`;

const DROP = `{
  ${makeFiles('dropped.txt', 'text/plain', '"Buy bread."')}
  document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: files, bubbles: true, cancelable: true }));
}`;

/** The smallest GIF, under the name that browsers give to images of the clipboard. */
const GIF = 'Uint8Array.fromBase64("R0lGODlhAQABAAAAACwAAAAAAQABAAACAkQBADs=")';
const PASTE = `{
  ${makeFiles('image.png', 'image/gif', GIF)}
  const paste = new ClipboardEvent('paste', { clipboardData: files, bubbles: true, cancelable: true });
  document.activeElement.dispatchEvent(paste);
}`;

async function readPaths(sent: Locator): Promise<readonly string[]> {
  const items = await sent.getByRole('listitem').all();
  return await Promise.all(items.map(async (item) => (await item.getAttribute('title')) ?? ''));
}

export const playgroundFiles: ConsoleVisit = {
  name: 'playground-files',
  async run(visit) {
    const { page } = visit;
    await openPlayground(visit, { member: visit.seed.members[4] as string });
    const chooser = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Attach files' }).click();
    const notes = { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('Buy milk.') };
    await (await chooser).setFiles([notes, { ...notes, name: 'more.txt' }]);
    const removeMore = page.getByRole('button', { name: 'Remove more.txt' });
    await removeMore.click();
    await removeMore.waitFor({ state: 'detached' });
    await page.getByRole('list', { name: 'Attached files' }).getByText('9 B').waitFor();
    await page.evaluate(DROP);
    await page.getByRole('button', { name: 'Remove dropped.txt' }).waitFor();
    await page.getByRole('textbox', { name: 'Message' }).focus();
    await page.evaluate(PASTE);
    await page.getByRole('button', { name: /^Remove pasted-/ }).waitFor();
    await visit.checkPage('playground-attached');
    // What was uploaded for another member is uploaded again.
    await chooseMember(visit, visit.seed.members[5] as string);
    await page.getByRole('list', { name: 'Attached files' }).getByText('9 B', { exact: true }).waitFor();
    await page.getByRole('button', { name: /^Remove pasted-/ }).waitFor();
    await page.getByRole('button', { name: 'Send' }).and(page.locator('[aria-disabled="false"]')).waitFor();
    await send(visit, 'Read my notes');
    await page.keyboard.press('Enter');
    const sent = sentMessages(page);
    await sent.getByRole('list', { name: 'Files' }).getByText('notes.txt').waitFor();
    await sent.getByText('The model gets 1 attachment.').waitFor();
    const folder = `/app/mnt/members/${visit.seed.members[5]}/playground/`;
    const paths = await readPaths(sent);
    expectEqual('files of the member', paths.filter((path) => path.startsWith(folder)).length, 3);
    await ended(visit, 1);
    expectEqual('messages after two keys', await sent.count(), 1);
    const more = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Attach files' }).click();
    await (await more).setFiles(Array.from({ length: 7 }, () => notes));
    await page.getByRole('alert').getByText('A message can have at most 5 files.').waitFor();
    const remove = page.getByRole('button', { name: 'Remove notes.txt' });
    await remove.nth(4).waitFor();
    await visit.checkPage('playground-too-many-files');
    await send(visit, 'The same name five times');
    await ended(visit, 2);
    expectEqual('files of the same name', new Set(await readPaths(sent.last())).size, 5);
    await visit.expectRefusal(400, async () => {
      const wrong = page.waitForEvent('filechooser');
      await page.getByRole('button', { name: 'Attach files' }).click();
      await (await wrong).setFiles([{ ...notes, name: '..' }]);
      await page.getByRole('list', { name: 'Attached files' }).getByRole('alert').waitFor();
    });
    await visit.checkPage('playground-upload-refused');
    await page.getByRole('button', { name: 'Remove ..' }).click();
    // An earlier message's files are found again. The image that the model saw is not returned.
    await page.getByRole('link', { name: 'Open the run' }).first().click();
    await page.getByRole('link', { name: 'Try again in the playground' }).click();
    await page.getByRole('alert').getByText('The earlier message also had 1 attachment').waitFor();
    await page.getByRole('button', { name: 'Remove notes.txt' }).waitFor();
    expectEqual('messages before it is sent', await sent.count(), 0);
  },
};
