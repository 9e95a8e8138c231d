import { expectEqual } from '@runwire/test-kit/shortfall.ts';
import type { Locator } from 'playwright-core';
import { chooseInMenu, openMenu } from '../sign-in-pages.ts';
import type { ConsoleVisit, VisitContext } from '../visit.ts';

const IN_MAIN = "document.querySelector('main').contains(document.activeElement)";
const ANIMATED = 'document.getAnimations().filter(({ playState }) => playState === "running").length';

const hasFocus = (element: Locator): Promise<boolean> =>
  element.evaluate((own) => own === own.ownerDocument.activeElement);

/** The theme in the first frame that has something to paint. */
const NOTE_FIRST_THEME = `(() => {
  const look = () => {
    if (document.body === null) requestAnimationFrame(look);
    else window.firstTheme = document.documentElement.dataset.theme ?? 'system';
  };
  look();
})()`;
const PAGE_COLOUR = 'getComputedStyle(document.documentElement).backgroundColor';

const heading = ({ page }: VisitContext, name: string | RegExp) => page.getByRole('heading', { level: 1, name });

/** Opens the palette by its key, and types into it. */
async function type({ page }: VisitContext, text: string): Promise<Locator> {
  await page.keyboard.press('Control+k');
  const field = page.getByRole('combobox', { name: 'Page, action or id' });
  await field.and(page.locator(':focus')).waitFor();
  await field.fill(text);
  return field;
}

/** The frame of all pages: what a person reaches by keyboard alone, and an address without a page. */
export const shellVisits: readonly ConsoleVisit[] = [
  {
    name: 'keyboard',
    async run(visit) {
      const { page } = visit;
      await visit.open('keys');
      await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor();
      await page.keyboard.press('Tab');
      const skip = page.getByRole('link', { name: 'Skip to the page' });
      expectEqual('the first stop', await hasFocus(skip), true);
      await visit.checkPage('skip-link');
      await page.keyboard.press('Enter');
      await page.keyboard.press('Tab');
      expectEqual('the focus is in the page', await page.evaluate(IN_MAIN), true);
      expectEqual('the page after the skip link', new URL(page.url()).pathname, new URL(visit.url('keys')).pathname);
      await openMenu(page);
      const profile = page.getByRole('button', { name: /^Profile of / });
      await profile.focus();
      await page.keyboard.press('Enter');
      const item = page.getByRole('menuitem', { name: 'Profile and password' });
      await item.waitFor();
      await page.getByText('Times are in UTC.').waitFor();
      await visit.checkPage('profile-menu');
      await page.keyboard.press('Escape');
      await item.waitFor({ state: 'hidden' });
      expectEqual('the focus after Escape', await hasFocus(profile), true);
    },
  },
  {
    name: 'dialog-by-keyboard',
    async run(visit) {
      const { page } = visit;
      await visit.open('keys');
      const create = page.getByRole('main').getByRole('button', { name: 'Create key' });
      const dialog = page.getByRole('dialog', { name: 'Create an API key' });
      const cancel = dialog.getByRole('button', { name: 'Cancel' });
      const closings: Readonly<Record<string, () => Promise<void>>> = {
        Escape: () => page.keyboard.press('Escape'),
        Cancel: () => cancel.press('Enter'),
      };
      await create.focus();
      for (const [name, close] of Object.entries(closings)) {
        await page.keyboard.press('Enter');
        await dialog.getByLabel('Name').and(page.locator(':focus')).waitFor();
        await close();
        await dialog.waitFor({ state: 'detached' });
        expectEqual(`the focus after ${name}`, await hasFocus(create), true);
      }
    },
  },
  {
    name: 'reduced-motion',
    async run(visit) {
      const { page } = visit;
      await page.emulateMedia({ reducedMotion: 'reduce' });
      await visit.open('keys');
      await page.getByRole('button', { name: 'Create key' }).click();
      expectEqual('animations of a dialog', await page.evaluate(ANIMATED), 0);
    },
  },
  {
    name: 'unknown-address',
    async run(visit) {
      await visit.open('no/such/page');
      await visit.page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor();
      await visit.checkPage('unknown-address');
    },
  },
  {
    name: 'palette',
    async run(visit) {
      const { page, seed } = visit;
      await visit.open('keys');
      await heading(visit, 'API keys').waitFor();
      const run = seed.runs.completed;
      await type(visit, run);
      await page
        .getByRole('option', { name: `Find the id ${run}` })
        .and(page.locator('[aria-selected="true"]'))
        .waitFor();
      await visit.expectRefusal(404, async () => {
        await page.keyboard.press('Enter');
        await page.waitForURL(`**/integrations/${seed.integration}/runs/${run}**`);
      });
      await page.getByRole('dialog').waitFor({ state: 'hidden' });

      await type(visit, 'create a key');
      await page.keyboard.press('Enter');
      const dialog = page.getByRole('dialog', { name: 'Create an API key' });
      await dialog.getByLabel('Name').and(page.locator(':focus')).waitFor();
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'hidden' });
      expectEqual('the address without the dialog', new URL(page.url()).search, '');

      const field = await type(visit, '');
      await page.getByRole('group', { name: 'Recently visited' }).getByRole('option').first().waitFor();
      await visit.checkPage('palette');
      await page.keyboard.press('ArrowUp');
      const last = page.getByRole('option').last();
      expectEqual('the last result is chosen', await last.getAttribute('aria-selected'), 'true');
      expectEqual(
        'the active option',
        await field.getAttribute('aria-activedescendant'),
        await last.getAttribute('id'),
      );
      await field.fill('no such thing at all');
      await page.getByText('0 results').waitFor();
      await visit.checkPage('palette-empty');
      await page.keyboard.press('Escape');
      await field.waitFor({ state: 'hidden' });
    },
  },
  {
    name: 'palette-ids',
    async run(visit) {
      const { page, seed, api } = visit;
      const { integration } = seed;
      await visit.open(`integrations/${seed.otherIntegration}/members`);
      await heading(visit, 'Members').waitFor();
      const lands = async (text: string, address: string) => {
        await type(visit, text);
        await page.keyboard.press('Enter');
        await page.waitForURL((url) => decodeURIComponent(`${url.pathname}${url.search}`).endsWith(address));
        await page.getByRole('combobox', { name: 'Page, action or id' }).waitFor({ state: 'hidden' });
      };
      const [member = ''] = seed.members;
      await visit.expectRefusal(404, () => lands(member, `/integrations/${integration}/members/${member}`));
      const file = `${seed.folder}/orders.csv`;
      await lands(integration, `/integrations/${integration}`);
      await visit.expectRefusal(404, () => lands(seed.chats.completed, `/chats/${seed.chats.completed}`));
      await lands(file, `/integrations/${integration}/files?folder=${seed.folder}&file=${file}`);
      await page.keyboard.press('Escape');
      const { body } = await api.post('/v2/api_keys', { name: visit.unique('palette') });
      await lands(String(body.keyId), `/keys?key=${body.keyId}`);
      await page.getByText(visit.unique('palette')).waitFor();
      await type(visit, 'run_0');
      await visit.expectRefusal(404, async () => {
        await page.keyboard.press('Enter');
        await page.getByText('No integration has run_0.').waitFor();
      });
      await visit.checkPage('palette-absent');
    },
  },
  {
    name: 'shortcuts',
    async run(visit) {
      const { page, seed } = visit;
      await visit.open(`integrations/${seed.integration}/members`);
      await page.getByRole('row').nth(1).waitFor();
      await page.keyboard.press('/');
      const search = page.getByRole('searchbox');
      await search.and(page.locator(':focus')).waitFor();
      await page.keyboard.type('gh?');
      expectEqual('keys in a field are text', await search.inputValue(), 'gh?');
      await heading(visit, 'Members').click();
      await page.keyboard.type('gi');
      await heading(visit, 'Integrations').waitFor();
      await page.keyboard.type('gr');
      await heading(visit, 'Runs').waitFor();
      expectEqual('the last integration', new URL(page.url()).pathname.includes(seed.integration), true);
      await page.keyboard.type('?');
      const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
      await help.waitFor();
      await visit.checkPage('shortcuts');
      const keys = help.getByLabel('Use keys without Ctrl');
      await keys.uncheck();
      await help.getByRole('button', { name: 'Close' }).click();
      await page.keyboard.type('gi');
      await type(visit, 'keyboard');
      await page.keyboard.press('Escape');
      await heading(visit, 'Runs').waitFor();
    },
  },
  {
    name: 'theme',
    async run(visit) {
      const { page } = visit;
      await page.addInitScript(NOTE_FIRST_THEME);
      await visit.open('keys');
      const light = await page.evaluate(PAGE_COLOUR);
      await openMenu(page);
      await page.getByRole('button', { name: /^Profile of / }).click();
      await page.getByRole('menuitemradio', { name: 'Dark' }).click();
      expectEqual('another colour', (await page.evaluate(PAGE_COLOUR)) === light, false);
      await page.reload();
      await heading(visit, 'API keys').waitFor();
      expectEqual('the theme of the first frame', await page.evaluate('window.firstTheme'), 'dark');
      await visit.checkPage('theme-dark');
      await type(visit, 'switch theme: light');
      await page.keyboard.press('Enter');
      expectEqual('the colour', await page.evaluate(PAGE_COLOUR), light);
      await type(visit, 'as the system');
      await page.keyboard.press('Enter');
      await page.emulateMedia({ colorScheme: 'dark' });
      expectEqual('the colour of the system', (await page.evaluate(PAGE_COLOUR)) === light, false);
    },
  },
  {
    name: 'unsaved',
    async run(visit) {
      const { page, seed } = visit;
      await visit.open(`integrations/${seed.otherIntegration}?tab=settings`);
      const name = page.getByLabel('Name', { exact: true });
      const question = page.getByRole('dialog', { name: 'Discard your changes?' });
      await name.fill('Not saved');
      await page.getByRole('tab', { name: 'Overview' }).click();
      await page.getByRole('tab', { name: 'Settings' }).click();
      expectEqual('a tab keeps what was typed', await name.inputValue(), 'Not saved');
      await openMenu(page);
      await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'API keys' }).click();
      await question.waitFor();
      await visit.checkPage('unsaved');
      await question.getByRole('button', { name: 'Keep editing' }).click();
      expectEqual('the name is kept', await name.inputValue(), 'Not saved');
      await openMenu(page);
      await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'API keys' }).click();
      await question.getByRole('button', { name: 'Discard changes' }).click();
      await heading(visit, 'API keys').waitFor();

      await page.getByRole('main').getByRole('button', { name: 'Create key' }).click();
      const dialog = page.getByRole('dialog', { name: 'Create an API key' });
      await dialog.getByLabel('Name').fill('Not created');
      await page.keyboard.press('Escape');
      await question.getByRole('button', { name: 'Keep editing' }).press('Enter');
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await question.getByRole('button', { name: 'Discard changes' }).click();
      await dialog.waitFor({ state: 'detached' });
      // A form without changes asks nothing.
      await chooseInMenu(page, 'Integrations');
    },
  },
];
