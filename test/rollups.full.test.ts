import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  type ModelCall,
  postgresFolder,
  Rig,
  type ServerProcess,
  SHORT_LEASE,
  temporaryFolder,
  type WaitPoint,
} from '@runwire/test-kit';
import { count, plantedFault, scale } from '@runwire/test-kit/scale.ts';
import { addTo, expectAtLeast, expectEqual, Shortfall, until, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import { backup } from '../packages/server/src/commands/backup.ts';
import { restore } from '../packages/server/src/commands/restore.ts';
import { askStore } from './support/ask-store.ts';
import { differingRollups } from './support/rollup-check.ts';

/*
 * Servers die around the end of runs, and others continue the runs. A person is erased, the installation is restored elsewhere,
 * and the sweep that adds runs of an earlier version dies between its pages. After each step the rollups must have the sums of
 * the runs, to the number.
 */

const INTEGRATION = 'rollups';
const PATH = `/v2/integrations/${INTEGRATION}`;
const allowances = { unit: 'tokens', limit: 1_000_000_000, period: 'lifetime' };
const PRICES = JSON.stringify({
  currency: 'EUR',
  models: { 'scripted/model': { input: 1.5, cachedInput: 0.1, output: 7 } },
});
const LIMITS = { ...SHORT_LEASE, eraseRewriteMs: 0 };
const END_POINTS: readonly WaitPoint[] = ['end.after-commit', 'end.before-commit', 'settle.before', 'messages.before'];
const TAKEOVER_POINTS: readonly WaitPoint[] = ['takeover.before-commit', 'takeover.after-commit'];
/** Runs that begin concurrently: with and without members, of two agents. One fails, and one calls a tool first. */
const REQUESTS = [
  { consumerId: 'ann', message: 'speak' },
  { consumerId: 'bob', message: 'tool' },
  { consumerId: 'ann', message: 'fail' },
  { message: 'speak' },
];
/** More runs than one page of the sweep has. */
const PAGES = 3;
const RUNS_A_PAGE = 250;

async function answer(call: ModelCall): Promise<void> {
  const said = call.request.prompt.findLast((item) => item.kind === 'user')?.text ?? '';
  if (said === 'tool' && call.request.step === 1) await call.toolCall('call_1', 'echo', '{"a":1}');
  else if (said === 'fail') return call.fail('model_error', 'The model broke.');
  else await call.text('Done.');
  await call.end();
}

class Stage {
  readonly rig: Rig;
  readonly sums = { runs: 0, kills: 0, rows: 0, checks: 0 };
  #requests = 0;

  constructor(rig: Rig) {
    this.rig = rig;
    rig.model.onCall = (call) => void answer(call).catch(() => {});
  }

  ask(text: string, rig: Rig = this.rig): Promise<Record<string, unknown>[]> {
    return rig.isEmbedded ? askStore(rig.dataDir, text) : rig.query(text);
  }

  async count(query: string): Promise<number> {
    return Number((await this.ask(`select count(*) as n from ${query}`))[0]?.n);
  }

  /** Compares the rollups with the runs. */
  async check(what: string, rig: Rig = this.rig): Promise<void> {
    const { rows, differing } = await differingRollups((text) => this.ask(text, rig));
    if (differing.length > 0) {
      const [first] = differing;
      throw new Shortfall(
        `rollups that differ from the runs after ${what}: expected 0, found ${differing.length} (${first}).`,
      );
    }
    this.sums.rows = rows;
    this.sums.checks += 1;
  }

  /** Starts a server on the data. On the embedded store the one before has ended. */
  async start(options: Parameters<Rig['add']>[0] = {}): Promise<ServerProcess> {
    return this.rig.add({ limits: LIMITS, env: { RUNWIRE_PRICES: PRICES }, ...options });
  }

  async stop(server: ServerProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    await server.kill(signal);
    this.rig.servers.splice(this.rig.servers.indexOf(server), 1);
  }

  /** Sends the requests. A server that dies answers some of them or none. */
  async send({ api }: ServerProcess): Promise<void> {
    await Promise.all(
      REQUESTS.map(async (request) => {
        this.#requests += 1;
        const ids = { apiIntegrationId: INTEGRATION, usageRequestId: `request-${this.#requests}` };
        const reader = await api.complete({ ...ids, ...request }).catch(() => null);
        await reader?.over.catch(() => {});
      }),
    );
  }

  /** A server dies at the point, and the next one ends its runs. With `then`, the next one dies there, and a third ends them. */
  async killAt(point: WaitPoint, then: WaitPoint | null = null): Promise<void> {
    const server = await this.start({ killAt: point, killAfter: 1 });
    await within(`requests at ${point}`, WAIT_MS, this.send(server));
    await this.awaitDeath(server, point);
    // It may die before it has reported that it is ready.
    const heir = then === null ? null : await this.start({ killAt: then, killAfter: 1 }).catch(() => null);
    if (then !== null) await this.awaitDeath(heir, then);
    const next = await this.start({ fault: null });
    await until('end of all runs', async () => (await this.count('active_runs')) === 0, { pauseMs: 100 });
    await this.check(`a kill at ${then === null ? point : `${point} and ${then}`}`);
    await this.stop(next);
  }

  /** `server` is null if it has died during its start. */
  async awaitDeath(server: ServerProcess | null, point: WaitPoint): Promise<void> {
    this.sums.kills += 1;
    if (server === null) return;
    await within(`death at ${point}`, WAIT_MS, server.gone);
    await this.stop(server, 'SIGKILL');
  }

  async erase(server: ServerProcess): Promise<void> {
    const member = `${PATH}/members/ann`;
    expectEqual('status of the erasure', (await server.api.delete(`${member}?erase=true`)).status, 202);
    const isErased = async () => (await server.api.get(`${member}/erasure`)).body.status === 'erased';
    await until('end of the erasure', isErased, { pauseMs: 100 });
    expectEqual('days of an erased member', await this.count(`usage_days where consumer_id = 'ann'`), 0);
    await this.check('an erasure');
  }

  /** Summaries of the API have all runs. */
  async summarise({ api }: ServerProcess): Promise<void> {
    const [row] = await this.ask('select count(*) as runs, sum(input_tokens + output_tokens) as tokens from runs');
    for (const groupBy of ['day', 'agent', 'consumer']) {
      const { items } = (await api.get(`${PATH}/usage/summary?groupBy=${groupBy}&limit=200`)).body;
      const add = (amounts: readonly number[]) => amounts.reduce((sum, amount) => sum + amount, 0);
      const found = [
        add(items.map((item: { runs: number }) => item.runs)),
        add(items.map((item: { usage: { total_tokens: number } }) => item.usage.total_tokens)),
      ];
      expectEqual(`runs and tokens by ${groupBy}`, found, [Number(row?.runs), Number(row?.tokens)]);
    }
  }

  /** Makes all runs those of an earlier version, and many more of them. */
  async forget(): Promise<void> {
    const [row = {}] = await this.ask('select * from runs limit 1');
    const own = { run_id: `run_id || '-' || n`, usage_request_id: 'null' };
    const columns = Object.keys(row);
    const values = columns.map((column) => own[column as keyof typeof own] ?? column);
    const copies = Math.ceil((PAGES * RUNS_A_PAGE) / (await this.count('runs')));
    const numbers = Array.from({ length: copies }, (_, n) => `select ${n + 1} as n`).join(' union all ');
    await this.ask(`insert into runs (${columns.join()}) select ${values.join()} from runs, (${numbers}) numbers`);
    await this.ask('delete from usage_hours');
    const zeros = ['ended_runs', 'request_count', 'input_tokens', 'cached_tokens', 'output_tokens', 'reasoning_tokens'];
    const charges = ['charged_runs', 'charged_tokens', 'charged_credits'];
    const cleared = [...zeros, ...charges].map((column) => `${column} = 0`);
    await this.ask(`update usage_days set newest_run_id = '', measures_json = '{}', ${cleared.join()}`);
    await this.ask('update runs set counted = 0');
    await this.ask(`insert into usage_walk select 1, '', max(run_id) from runs`);
  }

  /** The sweep dies in its second page, before and after the commit. Another server finishes it. */
  async sweep(): Promise<void> {
    await this.forget();
    for (const point of ['sweep.before-commit', 'sweep.after-commit'] as const) {
      await this.awaitDeath(await this.start({ killAt: point, killAfter: 2 }).catch(() => null), point);
    }
    const server = await this.start();
    await this.summarise(server);
    await until('end of the walk', async () => (await this.count('usage_walk')) === 0, { pauseMs: 50 });
    await this.check('a sweep that died twice');
    await this.summarise(server);
    await this.stop(server);
  }
}

interface Points {
  readonly ends: readonly WaitPoint[];
  readonly takeovers: readonly WaitPoint[];
}

async function proveOn(nodes: number | null, fault: string | null, { ends, takeovers }: Points) {
  await using rig = await Rig.open({ nodes, fault });
  const stage = new Stage(rig);
  const first = await stage.start({ fault: null });
  await rig.prepare({ apiIntegrationId: INTEGRATION, agency: 'test', allowances }, 'ann');
  await first.api.put(`${PATH}/members/bob`, {});
  await stage.send(first);
  await stage.check('the first runs');
  await stage.stop(first);
  for (const point of ends) await stage.killAt(point);
  for (const point of takeovers) await stage.killAt('end.before-commit', point);
  const server = await stage.start();
  await stage.erase(server);
  await stage.send(server);
  await stage.summarise(server);
  await stage.stop(server);

  await using target = await Rig.open({ nodes });
  const parent = temporaryFolder();
  using _ = { [Symbol.dispose]: () => rmSync(parent, { recursive: true }) };
  const toSettings = (of: Rig) => ({
    RUNWIRE_DATA_DIR: of.dataDir,
    DATABASE_URL: nodes === null ? '' : of.databaseUrl,
  });
  await backup(toSettings(rig), join(parent, 'backup'));
  await restore(toSettings(target), join(parent, 'backup'));
  await stage.check('a restore', target);
  await stage.sweep();
  stage.sums.runs = expectAtLeast('runs', await stage.count('runs'), PAGES * RUNS_A_PAGE);
  return stage.sums;
}

test('sums of usage equal the runs', async () => {
  const fault = plantedFault();
  if (postgresFolder() === null) throw new Shortfall('PostgreSQL on this machine: expected 1, found 0.');
  const points = { ends: scale(END_POINTS.slice(0, 1), END_POINTS), takeovers: scale([], TAKEOVER_POINTS) };
  const sums = { runs: 0, kills: 0, rows: 0, checks: 0 };
  for (const nodes of [null, 0]) addTo(sums, await proveOn(nodes, fault, points));
  count({ stores: 2, ...sums });
});
