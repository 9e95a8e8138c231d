import { expectEqual } from '@runwire/test-kit/shortfall.ts';
import { fillSetUp } from '../sign-in-pages.ts';
import type { ConsoleVisit, VisitContext } from '../visit.ts';

/** Figures of a node are those of its last heartbeat. */
const STATS_MS = 40_000;

async function storeOf({ api }: VisitContext): Promise<string> {
  const { body } = await api.get('/readyz');
  return body.store;
}

export const healthVisits: readonly ConsoleVisit[] = [
  {
    name: 'health',
    async run(visit) {
      const { page, api, integration } = visit;
      const refused = { apiIntegrationId: integration, message: 'Hello' };
      expectEqual('status of a refused run', (await api.post('/get_completion_v2', refused)).status, 400);
      await visit.open('health');
      await page.getByRole('heading', { name: 'Running nodes' }).waitFor();
      const nodes = page.getByRole('article').filter({ hasText: 'answers you' });
      await nodes.getByText('alive', { exact: true }).waitFor();
      await page
        .getByRole('definition')
        .filter({ hasText: await storeOf(visit) })
        .waitFor();
      const table = page.getByRole('table', { name: 'Refused requests by code' });
      await table.getByRole('cell', { name: 'missing_allowance_attribution' }).waitFor({ timeout: STATS_MS });
      await visit.checkPage('health');
    },
  },
  {
    name: 'health-of-several-nodes',
    async run(visit) {
      const { page, rig } = visit;
      // The embedded store has one node.
      if ((await storeOf(visit)) !== 'postgres') return;
      const columns = '(node_id, boot, dead, version, started_at, host, address)';
      const now = Date.now();
      const id = visit.unique('node').replaceAll(' ', '-');
      await rig.ask(`insert into nodes ${columns} values
        ('${id}-old', 'a', 0, '0.0.9', ${now}, 'old-machine', null), ('${id}-off', 'b', 2, '0.0.8', ${now}, 'off-machine', null)`);
      await rig.ask(`insert into node_beats (node_id, beat, seen_at, draining) values ('${id}-old', 1, ${now}, 0)`);
      await visit.open('health');
      await page.getByText('The nodes have different versions: 0.0.9').waitFor();
      const stopped = page.getByRole('table', { name: 'stopped nodes' });
      await stopped.getByRole('row', { name: /off-machine dead/ }).waitFor();
      await visit.checkPage('health-several-nodes');
      await rig.ask(`delete from node_beats where node_id like '${id}-%'`);
      await rig.ask(`delete from nodes where node_id like '${id}-%'`);
      await page.getByText('The nodes have different versions').waitFor({ state: 'hidden' });
    },
  },
  {
    name: 'health-for-others',
    signedIn: false,
    async run(visit) {
      const { page, api } = visit;
      const email = `${visit.unique('person').replaceAll(' ', '-')}@example.com`;
      const { body } = await api.post('/v2/owners', { email });
      await page.goto(body.setupLink);
      await fillSetUp(page, { email, password: 'a long enough password' });
      await page.getByRole('heading', { level: 1, name: 'Integrations' }).waitFor();
      await visit.open('health');
      await page.getByRole('heading', { name: 'Only an administrator sees this page' }).waitFor();
      expectEqual('links to the page', await page.getByRole('link', { name: 'Health' }).count(), 0);
      await visit.checkPage('health-not-administrator');
    },
  },
];
