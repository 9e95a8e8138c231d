import { expectEqual } from '@runwire/test-kit/shortfall.ts';
import type { ConsoleVisit } from '../visit.ts';

/** Longer than the time after which a page asks the server again. */
const AWAY_MS = 6000;

export const connectionVisits: readonly ConsoleVisit[] = [
  {
    name: 'lost-connection',
    async run(visit) {
      const { page, rig } = visit;
      await visit.open('keys');
      const lost = page.getByRole('status').filter({ hasText: /connection/i });
      await visit.expectRefusal('outage', async () => {
        await rig.stopServer();
        await lost.waitFor({ timeout: 30_000 });
        await page.waitForTimeout(AWAY_MS);
        expectEqual('reports of the lost connection', await lost.count(), 1);
        await visit.checkPage('lost-connection');
        await rig.startServer();
        await lost.waitFor({ state: 'hidden', timeout: 30_000 });
      });
      await visit.checkPage('connection-back');
    },
  },
];
