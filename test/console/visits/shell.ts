import { expectEqual } from '@runwire/test-kit/shortfall.ts';
import type { Locator } from 'playwright-core';
import { openMenu } from '../sign-in-pages.ts';
import type { ConsoleVisit } from '../visit.ts';

const IN_MAIN = "document.querySelector('main').contains(document.activeElement)";
const ANIMATED = 'document.getAnimations().filter(({ playState }) => playState === "running").length';

const hasFocus = (element: Locator): Promise<boolean> =>
  element.evaluate((own) => own === own.ownerDocument.activeElement);

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
      await page.getByRole('menuitem', { name: 'API keys' }).waitFor();
      await visit.checkPage('profile-menu');
      await page.keyboard.press('Escape');
      await page.getByRole('menuitem', { name: 'API keys' }).waitFor({ state: 'hidden' });
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
];
