import { expectEqual } from '@runwire/test-kit/shortfall.ts';
import { chooseInProfile } from '../sign-in-pages.ts';
import { alert, signInNewOwner } from '../steps.ts';
import type { ConsoleVisit } from '../visit.ts';

export const keyVisits: readonly ConsoleVisit[] = [
  {
    name: 'keys',
    async run(visit) {
      const { page } = visit;
      await visit.open('integrations');
      await chooseInProfile(page, 'API keys');
      await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor();
      await visit.checkPage('keys');
      const name = visit.unique('backend');
      await page.getByRole('button', { name: 'Create key' }).click();
      const dialog = page.getByRole('dialog', { name: 'Create an API key' });
      await visit.checkPage('key-create');
      await dialog.getByLabel('Name').fill(name);
      await dialog.getByLabel('Expires').selectOption({ label: 'After 30 days' });
      await dialog.getByRole('button', { name: 'Create key' }).click();
      const shown = page.getByRole('dialog', { name: 'Your new API key' });
      const key = (await shown.getByRole('region', { name: 'API key' }).innerText()).trim();
      expectEqual('status of a request with the new key', (await visit.api.as(key).get('/v2/me')).status, 200);
      await visit.checkPage('key-created');
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await shown.getByRole('button', { name: 'Copy API key' }).click();
      expectEqual('the clipboard', await page.evaluate('navigator.clipboard.readText()'), key);
      await shown.getByRole('button', { name: 'Done' }).click();
      const row = page.getByRole('row').filter({ hasText: name });
      await row.getByText('active').waitFor();
      expectEqual('places that show the key after that', await page.getByText(key).count(), 0);
      await row.getByRole('button', { name: `Revoke ${name}` }).click();
      await visit.checkPage('key-revoke');
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke key' }).click();
      await row.getByText('revoked').waitFor();
      await visit.checkPage('key-revoked');
      expectEqual('status of a request after that', (await visit.api.as(key).get('/v2/me')).status, 401);
    },
  },
  {
    name: 'key-last',
    signedIn: false,
    async run(visit) {
      const { page } = visit;
      await signInNewOwner(visit, 'one key');
      await visit.open('keys');
      await page.getByRole('button', { name: 'Revoke first' }).click();
      const revoke = page.getByRole('dialog').getByRole('button', { name: 'Revoke key' });
      await visit.expectRefusal(409, () => revoke.click());
      await alert(page, 'This is your last API key');
      await visit.checkPage('key-last');
    },
  },
];
