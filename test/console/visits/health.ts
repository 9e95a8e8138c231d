import { expectEqual, until } from '@runwire/test-kit/shortfall.ts';
import { fillSetUp } from '../sign-in-pages.ts';
import type { ConsoleVisit, VisitContext } from '../visit.ts';
import { shown } from './table-cell.ts';

/** Figures of a node are those of its last heartbeat. */
const STATS_MS = 40_000;

async function getStore({ api }: VisitContext): Promise<string> {
  const { body } = await api.get('/readyz');
  return body.store;
}

interface Node {
  readonly state: string;
  readonly activeRuns: number;
  readonly stats: NodeStats | null;
}

interface NodeStats {
  readonly openStreams: number;
  readonly writerQueue: number;
  readonly admissions: {
    readonly admitted: number;
    readonly replayed: number;
    readonly refused: Readonly<Record<string, number>>;
  };
}

const add = (numbers: readonly number[]) => shown(numbers.reduce((sum, one) => sum + one, 0));

/** The figures of all running nodes, from what the API has. */
async function toFigures({ api }: VisitContext): Promise<Readonly<Record<string, string>>> {
  const { body } = await api.get('/v2/nodes?limit=200');
  const { body: ready } = await api.get('/readyz');
  const nodes = (body.items as readonly Node[]).filter(({ state }) => state !== 'dead');
  const stats = nodes.flatMap((node) => node.stats ?? []);
  return {
    'Nodes alive': shown(nodes.filter(({ state }) => state === 'alive').length),
    'Active runs': add(nodes.map(({ activeRuns }) => activeRuns)),
    'Open streams': add(stats.map(({ openStreams }) => openStreams)),
    'Writer queue': add(stats.map(({ writerQueue }) => writerQueue)),
    Admitted: add(stats.map(({ admissions }) => admissions.admitted)),
    Replayed: add(stats.map(({ admissions }) => admissions.replayed)),
    Refused: add(stats.flatMap(({ admissions }) => Object.values(admissions.refused))),
    Store: ready.store,
    Sandbox: ready.sandbox.kind,
  };
}

/** Both change with each heartbeat, so they are read until they agree. */
async function checkFigures(visit: VisitContext): Promise<void> {
  const sums = visit.page.getByRole('region', { name: 'All nodes' });
  await until('figures of the page and of the API agree', async () => {
    const wanted = await toFigures(visit);
    const titles = await sums.getByRole('term').allTextContents();
    // A note follows each figure.
    const values = (await sums.getByRole('definition').allTextContents()).filter((_, index) => index % 2 === 0);
    return Object.entries(wanted).every(([title, value]) => values[titles.indexOf(title)] === value);
  });
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
      const nodes = page.getByRole('article').filter({ hasText: 'replies to you' });
      await nodes.getByText('alive', { exact: true }).waitFor();
      await page
        .getByRole('definition')
        .filter({ hasText: await getStore(visit) })
        .waitFor();
      const table = page.getByRole('table', { name: 'Refused requests by code' });
      await table.getByRole('cell', { name: 'missing_allowance_attribution' }).waitFor({ timeout: STATS_MS });
      await checkFigures(visit);
      await visit.checkPage('health');
    },
  },
  {
    name: 'health-of-several-nodes',
    async run(visit) {
      const { page, rig } = visit;
      // The embedded store has one node.
      if ((await getStore(visit)) !== 'postgres') return;
      const columns = '(node_id, boot, dead, version, started_at, host, address, generation)';
      const now = Date.now();
      const id = visit.unique('node').replaceAll(' ', '-');
      await rig.ask(`insert into nodes ${columns} values
        ('${id}-old', 'a', 0, '0.0.9', ${now}, 'old-machine', null, 1), ('${id}-off', 'b', 2, '0.0.8', ${now}, 'off-machine', null, 1)`);
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
      await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
      await visit.open('health');
      await page.getByText('It is for the administrator of the installation.').waitFor();
      expectEqual('links to the page', await page.getByRole('link', { name: 'Health' }).count(), 0);
      await visit.checkPage('health-not-administrator');
    },
  },
];
