import { expectEqual } from '@runwire/test-kit/shortfall.ts';
import { chooseInMenu } from '../sign-in-pages.ts';
import type { ConsoleVisit } from '../visit.ts';

/** The console looks for the server more than once in this time, and what it read is too old after it. */
const AWAY_MS = 6000;
const REPORTED_MS = 60_000;
/** A token of the console ends after 10 minutes. */
const TOKEN_ENDED_MS = 11 * 60_000;

export const connectionVisits: readonly ConsoleVisit[] = [
  {
    name: 'lost-connection',
    async run(visit) {
      const { page, rig } = visit;
      await visit.open('keys');
      await chooseInMenu(page, 'Integrations');
      const lost = page.getByText('The server does not answer.');
      await visit.expectRefusal('outage', async () => {
        await rig.stopServer();
        await page.waitForTimeout(AWAY_MS);
        await chooseInMenu(page, 'API keys');
        await lost.first().waitFor({ timeout: REPORTED_MS });
        await page.waitForTimeout(AWAY_MS);
        expectEqual('reports of the lost connection', await lost.count(), 1);
        await visit.checkPage('lost-connection');
        await rig.startServer();
        await lost.first().waitFor({ state: 'hidden', timeout: REPORTED_MS });
      });
      await visit.checkPage('connection-back');
    },
  },
  // Last, because the server's clock is not set back.
  {
    name: 'token-renewal',
    async run(visit) {
      const { page, rig } = visit;
      await page.clock.install();
      await visit.open('keys');
      const create = page.getByRole('button', { name: 'Create key' });
      await create.waitFor();
      // No request is under way when the server stops.
      await rig.getWatch(page).quiet();
      const tokens: string[] = [];
      page.on('request', (request) => {
        if (request.url() === rig.url('token')) tokens.push(request.method());
      });
      // The page and the server are at the same later time. An old token would be answered with 401.
      await rig.stopServer();
      await rig.startServer({ aheadMs: TOKEN_ENDED_MS });
      await page.clock.fastForward(TOKEN_ENDED_MS);
      await create.click();
      const dialog = page.getByRole('dialog', { name: 'Create an API key' });
      await dialog.getByLabel('Name').fill(visit.unique('late'));
      await dialog.getByRole('button', { name: 'Create key' }).click();
      await page.getByRole('dialog', { name: 'Your new API key' }).getByRole('button', { name: 'Done' }).click();
      await page
        .getByRole('row')
        .filter({ hasText: visit.unique('late') })
        .waitFor();
      await chooseInMenu(page, 'Integrations');
      expectEqual('tokens after the first', tokens, ['POST']);
    },
  },
];
