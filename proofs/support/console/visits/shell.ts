import { expectEqual } from '@runwire/test-kit/shortfall.ts';
import { openMenu } from '../sign-in-pages.ts';
import type { ConsoleVisit } from '../visit.ts';

const IN_MAIN = "document.querySelector('main').contains(document.activeElement)";
const ANIMATED = 'document.getAnimations().filter(({ playState }) => playState === "running").length';

/** The frame of all pages: what a person reaches by keyboard alone, and an address without a page. */
export const shellVisits: readonly ConsoleVisit[] = [
  {
    name: 'keyboard',
    async run(visit) {
      const { page } = visit;
      await visit.open('keys');
      await page.keyboard.press('Tab');
      const skip = page.getByRole('link', { name: 'Skip to the page' });
      expectEqual('the first stop', await skip.evaluate((link) => link === link.ownerDocument.activeElement), true);
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
      expectEqual(
        'the focus after Escape',
        await profile.evaluate((own) => own === own.ownerDocument.activeElement),
        true,
      );
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
