import { expectEqual } from '@runwire/test-kit/shortfall.ts';
import type { Page } from 'playwright-core';
import { fillSetUp, fillSignIn, type Person, signedIn, signedOut } from '../sign-in-pages.ts';
import type { ConsoleVisit, VisitContext } from '../visit.ts';

const PASSWORD = 'a long enough password';

/** A new owner, whose link was not used yet. */
async function invite({ api, unique }: VisitContext): Promise<Person & { readonly setupLink: string }> {
  const email = `${unique('person').replaceAll(' ', '-')}@example.com`;
  const { status, body } = await api.post('/v2/owners', { email });
  expectEqual('status of a new owner', status, 201);
  return { email, password: PASSWORD, setupLink: body.setupLink };
}

/** Opens a page that learns from the server that there is no session. */
async function openSignedOut(visit: VisitContext, path = ''): Promise<void> {
  await visit.open(path);
  await signedOut(visit.page);
}

/** An owner who has just used the set-up link, in this page. */
async function person(visit: VisitContext): Promise<Person> {
  const invited = await invite(visit);
  await visit.page.goto(invited.setupLink);
  await fillSetUp(visit.page, invited);
  await signedIn(visit.page);
  return invited;
}

async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Profile/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out', exact: true }).click();
  await signedOut(page);
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
      await visit.expectRefusal(400, () => fillSetUp(page, { ...invited, password: 'short' }));
      await alert(page, /12/);
      await visit.checkPage('set-up-weak-password');
      await fillSetUp(page, invited);
      await signedIn(page);
      await visit.checkPage('set-up-done');
    },
  },
  {
    name: 'set-up-link-used-again',
    signedIn: false,
    async run(visit) {
      const { page } = visit;
      const invited = await invite(visit);
      await page.goto(invited.setupLink);
      await fillSetUp(page, invited);
      await signedIn(page);
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
      await alert(page, /e-mail or password/i);
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
        await alert(page, /e-mail or password/i);
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
      await visit.expectRefusal(401, () => openSignedOut(visit, 'keys'));
      await visit.checkPage('sign-in-at-first');
    },
  },
];
