import { expectEqual } from '@runwire/test-kit/shortfall.ts';
import type { Page } from 'playwright-core';
import { fillSetUp, fillSignIn, type Person, setUp, signedIn, signedOut, signOut } from '../sign-in-pages.ts';
import type { ConsoleVisit, VisitContext } from '../visit.ts';

const PASSWORD = 'a long enough password';

/** A new owner, whose link was not used yet. */
async function invite({ api, unique }: VisitContext): Promise<Person & { readonly setupLink: string }> {
  const email = `${unique('person').replaceAll(' ', '-')}@example.com`;
  const { status, body } = await api.post('/v2/owners', { email });
  expectEqual('status of a new owner', status, 201);
  return { email, password: PASSWORD, setupLink: body.setupLink };
}

/** An owner who has just used the set-up link, in this page. */
async function person(visit: VisitContext): Promise<Person> {
  const invited = await invite(visit);
  await setUp(visit.page, invited.setupLink, invited);
  return invited;
}

const alert = (page: Page, text: string | RegExp) => page.getByRole('alert').filter({ hasText: text }).waitFor();

export const signInVisits: readonly ConsoleVisit[] = [
  {
    name: 'set-up',
    signedIn: false,
    async run(visit) {
      const { page } = visit;
      const invited = await invite(visit);
      await page.goto(invited.setupLink);
      await visit.checkPage('set-up');
      await fillSetUp(page, invited, 'another long password');
      await alert(page, 'Both passwords must be the same.');
      await visit.checkPage('set-up-different-passwords');
      await visit.expectRefusal(400, () => fillSetUp(page, { ...invited, password: 'short' }));
      await alert(page, /12/);
      await visit.checkPage('set-up-weak-password');
      await fillSetUp(page, invited);
      await signedIn(page);
      await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
      // The link must not stay in the address or in the history.
      expectEqual('the address after the set-up', page.url(), visit.url(''));
    },
  },
  {
    name: 'set-up-link-used-again',
    signedIn: false,
    async run(visit) {
      const { page } = visit;
      const invited = await invite(visit);
      await setUp(page, invited.setupLink, invited);
      await signOut(page);
      await page.goto(invited.setupLink);
      await visit.expectRefusal(400, () => fillSetUp(page, invited));
      await alert(page, /link was used/);
      await visit.checkPage('set-up-link-used');
    },
  },
  {
    name: 'sign-in-and-out',
    signedIn: false,
    async run(visit) {
      const { page } = visit;
      const { email, password } = await person(visit);
      await signOut(page);
      await visit.checkPage('sign-in');
      await visit.expectRefusal(401, () => fillSignIn(page, { email, password: 'a wrong password' }));
      await alert(page, 'The e-mail address or the password is wrong');
      await visit.checkPage('sign-in-wrong-password');
      await fillSignIn(page, { email, password });
      await signedIn(page);
      await signOut(page);
    },
  },
  {
    name: 'too-many-sign-ins',
    signedIn: false,
    async run(visit) {
      const { page } = visit;
      const { email } = await person(visit);
      await signOut(page);
      for (let attempt = 1; attempt <= 5; attempt += 1) {
        await visit.expectRefusal(401, () => fillSignIn(page, { email, password: `wrong password ${attempt}` }));
        await alert(page, 'The e-mail address or the password is wrong');
      }
      await visit.expectRefusal(429, () => fillSignIn(page, { email, password: PASSWORD }));
      await alert(page, /Too many sign-ins failed/);
      await visit.checkPage('sign-in-too-many');
      // All visits have the same address.
      await visit.rig.ask('delete from sign_in_failures');
    },
  },
  {
    name: 'session-ended-on-a-page',
    signedIn: false,
    async run(visit) {
      const { page, rig } = visit;
      const owner = await person(visit);
      await visit.open('keys');
      const address = page.url();
      await rig.ask('delete from sessions where used_at = (select max(used_at) from sessions)');
      await visit.expectRefusal(401, async () => {
        await page.reload();
        await signedOut(page);
      });
      await visit.checkPage('sign-in-session-ended');
      await fillSignIn(page, owner);
      await signedIn(page);
      expectEqual('the page after signing in again', page.url(), address);
    },
  },
  {
    name: 'signed-out-at-first',
    signedIn: false,
    async run(visit) {
      const { page } = visit;
      const owner = await person(visit);
      await signOut(page);
      await visit.open('keys');
      await signedOut(page);
      await visit.checkPage('sign-in-at-first');
      await fillSignIn(page, owner);
      await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor();
      await signOut(page);
    },
  },
  {
    name: 'set-up-without-link',
    signedIn: false,
    async run(visit) {
      await visit.open('set-up');
      await visit.checkPage('set-up-without-link');
      await visit.page.getByRole('link', { name: 'Sign in instead' }).click();
      await signedOut(visit.page);
    },
  },
];
