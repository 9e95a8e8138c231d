import { expectEqual } from '@runwire/test-kit/shortfall.ts';
import { chooseInMenu, chooseInProfile } from '../sign-in-pages.ts';
import type { ConsoleVisit } from '../visit.ts';

/** The console looks for the server more than once in this time, and what it read is too old after it. */
const AWAY_MS = 6000;
const REPORTED_MS = 60_000;

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
        await chooseInProfile(page, 'API keys');
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
];
