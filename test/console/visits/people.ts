import { readFileSync } from 'node:fs';
import { expectEqual } from '@runwire/test-kit/shortfall.ts';
import type { Page } from 'playwright-core';
import {
  chooseInMenu,
  chooseInProfile,
  FIRST_OWNER,
  fillSignIn,
  openMenu,
  setUp,
  signedIn,
  signedOut,
} from '../sign-in-pages.ts';
import { alert, invite, signInNewOwner, toast } from '../steps.ts';
import type { ConsoleVisit, VisitContext } from '../visit.ts';
import { cellInView, timeIn } from './table-cell.ts';

async function openInvitation({ page, open }: VisitContext) {
  await open('people');
  await page.getByRole('button', { name: 'Invite a person' }).click();
  return page.getByRole('dialog', { name: 'Invite a person' });
}

interface ListedEvent {
  readonly operation: string;
  readonly target: string;
}

interface ListedOwner {
  readonly email: string | null;
  readonly createdAt: string;
}

/** Role and time of the creation are what the API has. */
async function checkOwner({ page, api }: VisitContext, email: string, role: string): Promise<void> {
  const { body } = await api.get('/v2/owners?limit=200');
  const owner = (body.items as readonly ListedOwner[]).find((one) => one.email === email);
  const table = page.getByRole('table', { name: 'owners' });
  expectEqual(`the role of ${email}`, await (await cellInView(table, email, 'Role')).textContent(), role);
  expectEqual('its creation', await timeIn(await cellInView(table, email, 'Created')), owner?.createdAt);
}

interface NewPassword {
  readonly current: string;
  readonly password: string;
  readonly repeated?: string;
}

async function changePassword(page: Page, { current, password, repeated = password }: NewPassword): Promise<void> {
  await page.getByLabel('Current password').fill(current);
  await page.getByLabel('New password', { exact: true }).fill(password);
  await page.getByLabel('Repeat the new password').fill(repeated);
  await page.getByRole('button', { name: 'Change password' }).click();
}

export const peopleVisits: readonly ConsoleVisit[] = [
  {
    name: 'people',
    async run(visit) {
      const { page, api } = visit;
      await visit.open('integrations');
      await chooseInMenu(page, 'People');
      await page.getByRole('heading', { level: 1, name: 'People' }).waitFor();
      await visit.checkPage('people');
      const dialog = await openInvitation(visit);
      await visit.checkPage('person-invite');
      const name = visit.unique('guest');
      const email = `${name.replaceAll(' ', '-')}@example.com`;
      await dialog.getByLabel('E-mail').fill(email);
      await dialog.getByLabel('Name (optional)').fill(name);
      await dialog.getByLabel('Role').selectOption('operator');
      await dialog.getByRole('button', { name: 'Invite' }).click();
      const shown = page.getByRole('dialog', { name: 'Give this link to the person' });
      const link = (await shown.getByRole('region', { name: 'set-up link' }).innerText()).trim();
      expectEqual('the start of the link', link.startsWith(`${visit.rig.baseUrl}/console/#set_up=`), true);
      await visit.checkPage('person-invited');
      await shown.getByRole('button', { name: 'Done' }).click();
      expectEqual('places that show the link after that', await page.getByText(link).count(), 0);
      const table = page.getByRole('table', { name: 'people' });
      expectEqual('the role', await (await cellInView(table, email, 'Role')).textContent(), 'operator');
      await page.getByRole('button', { name: `Change the role of ${name}` }).click();
      await visit.checkPage('person-role');
      await page.getByRole('dialog').getByLabel('Role').selectOption('viewer');
      await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
      await toast(page, `The role of ${name} is changed.`);
      await page.getByRole('button', { name: `Remove ${name}` }).click();
      await visit.checkPage('person-remove');
      await page.getByRole('dialog').getByRole('button', { name: 'Remove person' }).click();
      await toast(page, `${name} is removed.`);
      const { items } = (await api.get('/v2/audit?limit=3')).body as { items: readonly ListedEvent[] };
      await chooseInMenu(page, 'Audit log');
      await page.getByRole('heading', { level: 1, name: 'Audit log' }).waitFor();
      await visit.checkPage('audit');
      await page.getByLabel('Target').fill(items[0]?.target ?? '');
      for (const operation of ['createPerson', 'updatePerson', 'deletePerson'])
        await page.getByRole('cell', { name: operation }).waitFor();
      await page.getByLabel('Time', { exact: true }).selectOption('Last hour');
      const [saved] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Download CSV' }).click(),
      ]);
      expectEqual(
        'lines of the saved log',
        readFileSync(await saved.path(), 'utf8')
          .trim()
          .split('\n').length,
        4,
      );
    },
  },
  {
    name: 'person-viewer',
    signedIn: false,
    async run(visit) {
      const { page, api, seed } = visit;
      const email = `${visit.unique('viewer').replaceAll(' ', '-')}@example.com`;
      const { body } = await api.post('/v2/people', { email, role: 'viewer' });
      await setUp(page, body.setupLink, { email, password: 'a long enough password' });
      await visit.open('integrations');
      await page.getByRole('heading', { level: 1, name: 'Integrations' }).waitFor();
      expectEqual('buttons that create', await page.getByRole('button', { name: /^Create/ }).count(), 0);
      await openMenu(page);
      await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Agencies' }).waitFor();
      expectEqual('links to people', await page.getByRole('link', { name: 'People' }).count(), 0);
      await visit.checkPage('person-viewer');
      await visit.open(`integrations/${seed.integration}`);
      await page.getByRole('heading', { name: 'Last 24 hours' }).waitFor();
      expectEqual('links to the playground', await page.getByRole('link', { name: /playground/i }).count(), 0);
      await visit.checkPage('overview-viewer');
      await page.getByRole('tab', { name: 'Settings' }).click();
      await page.getByText('Your role can read the settings.').waitFor();
      expectEqual('fields that can be changed', await page.getByLabel('Name').isEnabled(), false);
      expectEqual('buttons that save', await page.getByRole('button', { name: 'Save settings' }).count(), 0);
      await visit.checkPage('settings-viewer');
      for (const path of [`integrations/${seed.integration}/playground`, 'people', 'health']) {
        await visit.open(path);
        await page.getByRole('heading', { name: 'Your role does not include this page' }).waitFor();
      }
      await visit.checkPage('forbidden-viewer');
    },
  },
  {
    name: 'owners',
    async run(visit) {
      const { page } = visit;
      await visit.open('integrations');
      await chooseInMenu(page, 'Owners');
      await page.getByRole('heading', { level: 1, name: 'Owners' }).waitFor();
      await visit.checkPage('owners');
      await page.getByRole('button', { name: 'Create an owner' }).click();
      const dialog = page.getByRole('dialog', { name: 'Create an owner' });
      await visit.checkPage('owner-create');
      const name = visit.unique('guest');
      const email = `${name.replaceAll(' ', '-')}@example.com`;
      await dialog.getByLabel('E-mail').fill(email);
      await dialog.getByLabel('Name (optional)').fill(name);
      await dialog.getByRole('button', { name: 'Create owner' }).click();
      const shown = page.getByRole('dialog', { name: 'Give this link to the person' });
      const link = (await shown.getByRole('region', { name: 'set-up link' }).innerText()).trim();
      expectEqual('the start of the link', link.startsWith(`${visit.rig.baseUrl}/console/#set_up=`), true);
      await visit.checkPage('owner-created');
      await shown.getByText('First API key of the owner').click();
      const key = (await shown.getByRole('region', { name: 'API key' }).innerText()).trim();
      expectEqual('status of a request with the key', (await visit.api.as(key).get('/v2/me')).status, 200);
      await visit.checkPage('owner-created-key');
      await shown.getByRole('button', { name: 'Done' }).click();
      expectEqual('places that show the link after that', await page.getByText(link).count(), 0);
      await checkOwner(visit, email, 'owner');
      await page.getByRole('button', { name: `Delete ${name}` }).click();
      await visit.checkPage('owner-delete');
      await page.getByRole('dialog').getByRole('button', { name: 'Delete owner' }).click();
      await toast(page, `${name} is deleted.`);
      await page.getByRole('button', { name: `Delete ${name}` }).waitFor({ state: 'detached' });
      expectEqual('status of a request after that', (await visit.api.as(key).get('/v2/me')).status, 401);
      // The first owner is the last one of the list.
      await page.keyboard.press('End');
      await checkOwner(visit, FIRST_OWNER.email, 'administrator');
    },
  },
  {
    name: 'person-exists',
    async run(visit) {
      const dialog = await openInvitation(visit);
      await dialog.getByLabel('E-mail').fill(FIRST_OWNER.email);
      await visit.expectRefusal(409, () => dialog.getByRole('button', { name: 'Invite' }).click());
      await alert(visit.page, /Another person has this e-mail/);
      await visit.checkPage('person-exists');
    },
  },
  {
    name: 'owner-in-use',
    async run(visit) {
      const { page, api } = visit;
      const { email, apiKey } = await invite(visit, 'busy');
      expectEqual('status', (await api.as(apiKey).post('/v2/integrations', {})).status, 201);
      await visit.open('owners');
      await page.getByRole('button', { name: `Delete ${email}` }).click();
      const dialog = page.getByRole('dialog', { name: `Delete ${email}?` });
      await visit.expectRefusal(409, () => dialog.getByRole('button', { name: 'Delete owner' }).click());
      await alert(page, 'The owner still has integrations; delete them first.');
      await visit.checkPage('owner-in-use');
    },
  },
  {
    name: 'owners-not-administrator',
    signedIn: false,
    async run(visit) {
      await signInNewOwner(visit, 'plain owner');
      await visit.open('owners');
      await visit.page.getByText('It is for the administrator of the installation.').waitFor();
      await visit.checkPage('owners-not-administrator');
    },
  },
  {
    name: 'profile',
    signedIn: false,
    async run(visit) {
      const { page, unique } = visit;
      const { password } = await signInNewOwner(visit, 'profile');
      await chooseInProfile(page, 'Profile and password');
      await page.getByRole('heading', { level: 1, name: 'Profile' }).waitFor();
      await visit.checkPage('profile');
      const save = page.getByRole('button', { name: 'Save profile' });
      await page.getByLabel('E-mail', { exact: true }).fill(FIRST_OWNER.email);
      await visit.expectRefusal(409, () => save.click());
      await alert(page, /Another person has this e-mail/);
      await visit.checkPage('profile-email-taken');
      const email = `${unique('renamed').replaceAll(' ', '-')}@example.com`;
      await page.getByLabel('Name', { exact: true }).fill(unique('Renamed'));
      await page.getByLabel('E-mail', { exact: true }).fill(email);
      await save.click();
      await toast(page, 'Your profile is saved.');
      await visit.checkPage('profile-saved');

      const changed = 'an even longer password';
      await changePassword(page, { current: password, password: changed, repeated: 'another one entirely' });
      await alert(page, 'Both new passwords must be the same.');
      await visit.expectRefusal(400, () => changePassword(page, { current: password, password: 'short' }));
      await alert(page, /12 to 1024 characters/);
      await visit.checkPage('password-weak');
      await visit.expectRefusal(401, () => changePassword(page, { current: 'not this one', password: changed }));
      await alert(page, 'The current password is wrong.');
      await visit.checkPage('password-wrong');
      await changePassword(page, { current: password, password: changed });
      await toast(page, 'Your password is changed.');

      await page.getByRole('button', { name: 'Sign out everywhere' }).click();
      await visit.checkPage('sign-out-everywhere');
      await page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click();
      await signedOut(page);
      await fillSignIn(page, { email, password: changed });
      await signedIn(page);
    },
  },
];
