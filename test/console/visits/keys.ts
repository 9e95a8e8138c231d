import { expectEqual, until } from '@runwire/test-kit/shortfall.ts';
import { chooseInMenu } from '../sign-in-pages.ts';
import { alert, signInNewOwner } from '../steps.ts';
import type { ConsoleVisit, VisitContext } from '../visit.ts';
import { cellInView, timeIn } from './table-cell.ts';

interface ListedKey {
  readonly name: string | null;
  readonly expiresAt: string | null;
  readonly lastUsedAt: string | null;
}

/** The server stores the first use of a key soon after the request. */
async function usedKey({ api }: VisitContext, name: string): Promise<ListedKey> {
  let key: ListedKey | undefined;
  await until(`last use of ${name}`, async () => {
    const { body } = await api.get('/v2/api_keys?limit=200');
    key = (body.items as readonly ListedKey[]).find((one) => one.name === name);
    return key?.lastUsedAt != null;
  });
  return key as ListedKey;
}

/** Expiry and last use are what the API has. */
async function checkTimes(visit: VisitContext, name: string): Promise<void> {
  const { expiresAt, lastUsedAt } = await usedKey(visit, name);
  await visit.page.reload();
  const table = visit.page.getByRole('table', { name: 'API keys' });
  const expires = await cellInView(table, name, 'Expires');
  expectEqual('the expiry in words', await expires.textContent(), 'in 30 days');
  expectEqual('the expiry', await timeIn(expires), expiresAt);
  const lastUse = await cellInView(table, name, 'Last use');
  expectEqual('the last use is recent', /^(just now|\d+ minutes? ago)$/.test(await lastUse.innerText()), true);
  expectEqual('the last use', await timeIn(lastUse), lastUsedAt);
}

export const keyVisits: readonly ConsoleVisit[] = [
  {
    name: 'keys',
    async run(visit) {
      const { page } = visit;
      await visit.open('integrations');
      await chooseInMenu(page, 'API keys');
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
      await checkTimes(visit, name);
      await visit.checkPage('key-used');
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
