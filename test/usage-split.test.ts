import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { PageTurns, STORES, type Store, type StoreName, startTestServer, type TestServer } from '@runwire/test-kit';
import { scale } from '@runwire/test-kit/scale.ts';
import { newIntegrationId } from '../packages/server/src/domain/ids.ts';
import { ClosedDays } from '../packages/server/src/runs/closed-days.ts';
import { type SummaryQuery, usageSummary } from '../packages/server/src/runs/usage-summary.ts';
import { cites } from '../requirements/cite.ts';
import { askStore } from './support/ask-store.ts';
import { refused } from './support/refused.ts';

const turns = new PageTurns(1);
const takeTurn = () => turns.take('owner');
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** In the past, so that the days are closed. */
const FIRST_DAY = 20_000;
/** Between two times of admission. A day has 15 of them. */
const QUARTERS_MS = 5_000_000;
const SPLITS = ['consumer', 'agent', 'model', 'error', 'agencyVersion'] as const;
type Key = 'hour' | 'day' | (typeof SPLITS)[number];

interface SeededRun {
  readonly runId: string;
  readonly createdAt: number;
  readonly day: string;
  readonly consumer: string | null;
  readonly agent: string;
  readonly isCharged: boolean;
  readonly models: readonly {
    readonly model: string;
    readonly inputTokens: number;
    readonly credits: number;
    readonly cost?: number;
  }[];
  readonly status: 'completed' | 'failed' | 'cancelled';
  readonly error: string | null;
  readonly agencyVersion: string | null;
  readonly durationMs: number;
  readonly firstTokenMs: number | null;
  readonly currency: string | null;
}

const toDay = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/**
 * 300 runs of 5 days, 14 members, 12 agents and 13 models. Several have the same millisecond, and runs call 0 to 2 models. The
 * first day has no currency, the third has two, and one model has no price.
 */
const RUNS: readonly SeededRun[] = Array.from({ length: 300 }, (_, n) => {
  const createdAt = (FIRST_DAY + Math.floor(n / 60)) * DAY_MS + Math.floor((n % 60) / 4) * QUARTERS_MS;
  const used = (seed: number) => ({
    model: `p/${seed % 13}`,
    inputTokens: ((seed * seed) % 97) * 10,
    credits: seed % 5,
    ...(n >= 60 && seed % 13 !== 7 && { cost: (seed * 7919) % 100_003 }),
  });
  const status = n % 9 === 0 ? 'failed' : n % 10 === 0 ? 'cancelled' : 'completed';
  return {
    runId: `run_${String(n).padStart(6, '0')}`,
    createdAt,
    day: toDay(createdAt),
    consumer: n % 11 === 0 ? null : `user-${((n * n) % 23) % 14}`,
    agent: `Agent ${(n * 5) % 12}`,
    isCharged: n % 7 !== 0,
    models: [[], [used(n)], [used(n), used(n + 1)]][n % 3] ?? [],
    ...{ status, error: status === 'failed' ? `error_${n % 12}` : null, agencyVersion: n < 50 ? null : `v${n % 4}` },
    ...{ durationMs: (n * n * 37) % 90_000, firstTokenMs: n % 8 === 0 ? null : (n * 13) % 700 },
    currency: n < 60 ? null : n < 150 ? 'EUR' : 'USD',
  };
});

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

interface Part {
  readonly values: Readonly<Record<Key, string | null>>;
  readonly runId: string;
  readonly tokens: number;
  readonly credits: number;
  readonly isCharged: boolean;
  readonly run: SeededRun;
  /** In millionths; null if it is not known. */
  readonly cost: number | null;
}

/** What each run adds, or each of its models if models matter. */
function toParts(query: SummaryQuery): Part[] {
  const byModel = query.groupBy === 'model' || query.splitBy === 'model' || query.model !== undefined;
  return RUNS.filter(({ consumer, agent, createdAt }) => {
    const isInTime =
      createdAt >= Date.parse(query.from ?? '2000-01-01') && createdAt < Date.parse(query.to ?? '2100-01-01');
    return isInTime && [undefined, consumer].includes(query.consumerId) && [undefined, agent].includes(query.agent);
  }).flatMap((run) => {
    const { models, runId, createdAt, day, consumer, agent, error, agencyVersion, isCharged, currency } = run;
    const hour = new Date(createdAt - (createdAt % HOUR_MS)).toISOString();
    const part = (model: string | null, used: SeededRun['models']) => ({
      values: { hour, day, consumer, agent, model, error, agencyVersion },
      tokens: sum(used.map(({ inputTokens }) => inputTokens)),
      credits: sum(used.map(({ credits }) => credits)),
      cost:
        currency === null || used.some(({ cost }) => cost === undefined) ? null : sum(used.map(({ cost = 0 }) => cost)),
      ...{ runId, isCharged, run },
    });
    if (!byModel) return part(null, models);
    const counted = models.filter(({ model }) => [undefined, model].includes(query.model));
    return counted.map((used) => part(used.model, [used]));
  });
}

/** The smallest value that at least this part of all values does not exceed. */
function percentiles(values: readonly number[]) {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (part: number) => sorted[Math.ceil(part * sorted.length) - 1] ?? 0;
  return sorted.length === 0 ? null : { p50: at(0.5), p95: at(0.95) };
}

function toItem(key: string | null, own: readonly Part[]): Item {
  const charged = own.filter(({ isCharged }) => isCharged);
  const currencies = new Set(own.map(({ cost, run }) => (cost === null ? null : run.currency)));
  const [currency = null] = currencies;
  return {
    ...{ key, runs: own.length, tokens: sum(own.map(({ tokens }) => tokens)) },
    charged: {
      runs: charged.length,
      tokens: sum(charged.map(({ tokens }) => tokens)),
      credits: sum(charged.map(({ credits }) => credits)),
    },
    failed: own.filter(({ run }) => run.status === 'failed').length,
    cancelled: own.filter(({ run }) => run.status === 'cancelled').length,
    cost:
      currency === null || currencies.size > 1
        ? null
        : { amount: sum(own.map(({ cost }) => cost ?? 0)) / 1_000_000, currency },
    durationMs: percentiles(own.map(({ run }) => run.durationMs)),
    firstTokenMs: percentiles(own.flatMap(({ run }) => run.firstTokenMs ?? [])),
  };
}

/** Compares summaries. Percentiles may differ by 10 %. */
function assertItems(found: readonly Item[], whole: readonly Item[], title: string): void {
  const times = ({ durationMs, firstTokenMs }: Item) =>
    [durationMs, firstTokenMs].flatMap((one) => (one === null ? [-1, -1] : [one.p50, one.p95]));
  const rest = ({ durationMs: _, firstTokenMs: __, ...item }: Item) => item;
  assert.deepEqual(found.map(rest), whole.map(rest), title);
  for (const [index, item] of whole.entries()) {
    const shown = times(found[index] ?? item);
    for (const [at, exact] of times(item).entries()) {
      const value = shown[at] ?? 0;
      assert.ok(Math.abs(value - exact) <= exact * 0.1 || value === exact, `${title}: ${value} instead of ${exact}`);
    }
  }
}

/** The summary by the documentation's words, in memory. */
function expected(
  query: SummaryQuery & { readonly groupBy: 'hour' | 'day'; readonly splitBy: (typeof SPLITS)[number] },
) {
  const parts = toParts(query);
  const totals = Map.groupBy(parts, ({ values }) => values[query.splitBy]);
  const largest = [...totals]
    .filter(([value]) => value !== null)
    .map(([value, own]) => ({ value, tokens: sum(own.map(({ tokens }) => tokens)), runs: own.length }))
    .sort((a, b) => b.tokens - a.tokens || b.runs - a.runs || (String(a.value) < String(b.value) ? -1 : 1))
    .slice(0, 10)
    .map(({ value }) => value);
  const days = [...new Set(parts.map(({ values }) => values[query.groupBy]))].sort().reverse();
  return days.flatMap((day) =>
    [...largest, null].flatMap((split) => {
      const own = parts.filter(({ values }) => {
        const value = values[query.splitBy];
        return values[query.groupBy] === day && (largest.includes(value) ? value : null) === split;
      });
      return own.length === 0 ? [] : { ...toItem(day, own), split };
    }),
  );
}

interface Item {
  readonly key: string | null;
  readonly split?: string | null;
  readonly runs: number;
  readonly tokens: number;
  readonly charged: object;
  readonly failed: number;
  readonly cancelled: number;
  readonly cost: object | null;
  readonly durationMs: { readonly p50: number; readonly p95: number } | null;
  readonly firstTokenMs: { readonly p50: number; readonly p95: number } | null;
}

type AnsweredItem = Omit<Item, 'tokens'> & { readonly usage: { readonly total_tokens: number } };

const short = ({ usage, ...item }: AnsweredItem): Item => ({ ...item, tokens: usage.total_tokens });

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  const closedDays = new ClosedDays();
  let server: TestServer;
  let database: Store;
  before(async () => {
    const wrapStore = (real: Store) => {
      database = real;
      return real;
    };
    server = await startTestServer({ store, wrapStore });
    // The sweep of the start must not meet the runs below: the tests decide when they are counted.
    await server.server.probes.sweepRollups();
    const text = (value: string | null) => (value === null ? 'null' : `'${value}'`);
    const rows = RUNS.map(({ runId, createdAt, consumer, agent, isCharged, models, ...run }) => {
      const tokens = sum(models.map(({ inputTokens }) => inputTokens));
      const credits = sum(models.map((used) => used.credits));
      const none = { requestCount: 1, cachedTokens: 0, outputTokens: 0, reasoningTokens: 0 };
      const byModel = JSON.stringify(models.map((used) => ({ ...none, ...used })));
      const charged = isCharged ? `1, ${tokens}, ${credits}` : '0, 0, 0';
      const counts = `${models.length}, ${tokens}, 0, 0, 0`;
      return `('${runId}', 'demo', 'chat', ${text(consumer)}, '${run.status}', 'demo', '${agent}', 'node', 1, 0, 1, 1, 0,
        ${Math.floor(createdAt / DAY_MS)}, ${counts}, '${byModel}', ${charged}, ${createdAt},
        ${createdAt + run.durationMs}, ${run.firstTokenMs}, ${text(run.currency)}, ${text(run.error)},
        ${text(run.agencyVersion)})`;
    });
    await askStore(
      server.dataDir,
      `insert into runs (run_id, integration_id, chat_key, consumer_id, status, agency, agent, node_id, attempt, crashes, step,
       journal_format, held, day, request_count, input_tokens, cached_tokens, output_tokens, reasoning_tokens, by_model_json,
       charged_runs, charged_tokens, charged_credits, created_at, completed_at, first_token_ms, currency, error_code,
       agency_version) values ${rows.join()}`,
    );
    // As an upgrade leaves runs of an earlier version: the rollups have none of them.
    await askStore(server.dataDir, `insert into usage_walk select 1, '', max(run_id) from runs`);
  });
  after(() => server[Symbol.asyncDispose]());

  const path = '/v2/integrations/demo/usage/summary';
  /** Reads all pages, by the API or in slices. */
  async function paged(
    query: Omit<SummaryQuery, 'rerun'>,
    limit: number,
    slice: number | null = null,
  ): Promise<Item[]> {
    const items: AnsweredItem[] = [];
    let cursor: string | null = null;
    do {
      const page: typeof query = { ...query, limit, ...(cursor === null ? {} : { cursor }) };
      const body: { items: readonly object[]; nextCursor: string | null } =
        slice === null
          ? (await server.api.get(`${path}?${new URLSearchParams({ ...page, limit: String(limit) })}`)).body
          : await usageSummary({ reads: database.reads, takeTurn, closedDays }, newIntegrationId('demo'), page, slice);
      assert.ok(body.items.length <= limit, JSON.stringify(body));
      items.push(...(body.items as AnsweredItem[]));
      cursor = body.nextCursor;
    } while (cursor !== null);
    return items.map(short);
  }

  const filters = [
    {},
    { consumerId: 'user-1' },
    { agent: 'Agent 5' },
    { model: 'p/3' },
    { consumerId: 'user-1', agent: 'Agent 5' },
    { consumerId: 'user-2', model: 'p/3' },
    {
      agent: 'Agent 5',
      from: `${toDay(FIRST_DAY * DAY_MS)}T03:20:00Z`,
      to: `${toDay((FIRST_DAY + 3) * DAY_MS)}T09:30:00Z`,
    },
    { from: `${toDay((FIRST_DAY + 1) * DAY_MS)}T03:20:00Z`, to: `${toDay((FIRST_DAY + 3) * DAY_MS)}T00:00:00Z` },
    { consumerId: 'nobody' },
  ];

  /** The gate compares the later states of the rollups with two filters, in the usual pages. */
  const some = scale<typeof filters>([{}, { consumerId: 'user-1' }], filters);

  async function checkSplits(used = filters): Promise<void> {
    for (const splitBy of SPLITS) {
      for (const filter of used) {
        const query = { groupBy: 'day', splitBy, ...filter } as const;
        const title = JSON.stringify(query);
        const whole = expected(query);
        // The filters do not change how a summary is divided into pages and slices.
        const isFirst = filter === filters[0];
        for (const limit of isFirst ? [7, 200] : [20]) assertItems(await paged(query, limit), whole, title);
        for (const slice of isFirst ? [17, 300] : [])
          assertItems(await paged(query, 200, slice), whole, `${title} in slices of ${slice}`);
      }
      const byHour = { groupBy: 'hour', splitBy } as const;
      assertItems(await paged(byHour, 150), expected(byHour), `hours by ${splitBy}`);
    }
  }

  async function checkGroups(used = filters): Promise<void> {
    for (const groupBy of ['hour', 'day', 'consumer', 'agent', 'model'] as const) {
      for (const filter of used) {
        const query = { groupBy, ...filter };
        const newest = (own: readonly Part[]) => own.reduce((last, { runId }) => (runId > last ? runId : last), '');
        const whole = [...Map.groupBy(toParts(query), ({ values }) => values[groupBy])]
          .map(([key, own]) => ({ ...toItem(key, own), newest: newest(own) }))
          .sort((a, b) =>
            a.newest === b.newest ? (String(a.key) < String(b.key) ? -1 : 1) : a.newest < b.newest ? 1 : -1,
          )
          .map(({ newest: _, ...item }) => item);
        for (const slice of groupBy === 'consumer' && filter === filters[0] ? [null, 10] : [null]) {
          const found = await paged(query, groupBy === 'hour' ? 30 : 4, slice);
          assertItems(found, whole, `${JSON.stringify(query)} in slices of ${slice}`);
        }
      }
    }
  }

  test('splits days and hours by the ten largest values, with measures', async (t) => {
    cites(
      t,
      'clients-18-summary-split',
      'contract-27-splits',
      'contract-27-measures',
      'contract-27-summary-cost',
      'contract-3-usage-summary',
    );
    await checkSplits();
    assert.equal(new Set(expected({ groupBy: 'day', splitBy: 'consumer' }).map(({ split }) => split)).size, 11);
  });

  test('filters every grouping by member, agent and model', async (t) => {
    cites(t, 'clients-18-summary-filters', 'contract-3-usage-summary', 'contract-27-hours', 'contract-27-measures');
    await checkGroups();
  });

  test('the first page decides which values all pages show', async () => {
    const { apiIntegrationId } = (await server.api.post('/v2/integrations', {})).body;
    const own = `/v2/integrations/${apiIntegrationId}/usage/summary?groupBy=day&splitBy=agent`;
    await askStore(server.dataDir, `update runs set integration_id = '${apiIntegrationId}' where agent <> 'Agent 3'`);
    const first = (await server.api.get(`${own}&limit=5`)).body;
    const whole = (await server.api.get(`${own}&limit=200`)).body.items;
    // The smallest agent becomes the largest between the pages.
    const shown = new Set(whole.map(({ split }: Item) => split));
    const hidden = RUNS.find(({ agent }) => agent !== 'Agent 3' && !shown.has(agent))?.agent;
    assert.ok(hidden !== undefined);
    await askStore(server.dataDir, `update runs set input_tokens = input_tokens + 100000 where agent = '${hidden}'`);
    const rest = (await server.api.get(`${own}&limit=200&cursor=${first.nextCursor}`)).body.items;
    const places = (items: readonly Item[]) => items.map(({ key, split, runs }) => [key, split, runs]);
    assert.deepEqual(places([...first.items, ...rest]), places(whole));
    assert.ok((await server.api.get(`${own}&limit=200`)).body.items.some(({ split }: Item) => split === hidden));
    await askStore(
      server.dataDir,
      `update runs set integration_id = 'demo', input_tokens = input_tokens -
      case when agent = '${hidden}' then 100000 else 0 end`,
    );
  });

  test('refuses a split of other groups, and cursors of other summaries', async () => {
    for (const groupBy of ['consumer', 'agent', 'model']) {
      await refused(
        server.api.get(`${path}?groupBy=${groupBy}&splitBy=agent`),
        400,
        'invalid_request',
        /^`splitBy` is only/,
      );
    }
    await refused(server.api.get(`${path}?groupBy=day&splitBy=day`), 400, 'invalid_request', /splitBy/);
    const { nextCursor } = (await server.api.get(`${path}?groupBy=day&splitBy=agent&limit=1`)).body;
    for (const other of ['groupBy=day', 'groupBy=day&splitBy=model', 'groupBy=day&splitBy=agent&agent=A']) {
      await refused(server.api.get(`${path}?${other}&cursor=${nextCursor}`), 400, 'invalid_cursor');
    }
    const tag = nextCursor.slice(0, 8);
    for (const id of [
      '',
      '[]',
      '["a","no day",1,[]]',
      '["a","2031-01-01",1,{}]',
      '["a","2031-01-01",1,[1]]',
      '["a","2031-01-01",1,[],1]',
    ]) {
      const forged = tag + Buffer.from(JSON.stringify([0, id])).toString('base64url');
      await refused(server.api.get(`${path}?groupBy=day&splitBy=agent&cursor=${forged}`), 400, 'invalid_cursor');
    }
  });

  test('rollups have the sums of the runs, with runs that are not counted yet', async (t) => {
    cites(t, 'contract-3-usage-summary', 'contract-27-once');
    const late = `created_at % 11 = 0 or agent = 'Agent 7'`;
    // A node of an earlier version ends some of the runs after the walk.
    await askStore(server.dataDir, `update runs set counted = 1 where ${late}`);
    assert.ok((await server.server.probes.sweepRollups()) > 200);
    await askStore(server.dataDir, `update runs set counted = 0 where ${late}`);
    await askStore(server.dataDir, `insert into uncounted_runs select run_id, integration_id from runs where ${late}`);
    await checkSplits(some);
    await checkGroups(some);
    assert.ok((await server.server.probes.sweepRollups()) > 20);
    assert.equal(await server.server.probes.sweepRollups(), 0, 'no run is counted twice');
    await checkSplits(some);
    await checkGroups(some);
    const [hours] = await askStore(server.dataDir, 'select sum(input_tokens) as tokens from usage_hours');
    assert.equal(Number(hours?.tokens), sum(RUNS.flatMap(({ models }) => models.map((used) => used.inputTokens))));
  });

  test('a split shows an erased member under its new id', async () => {
    const query = { groupBy: 'day', splitBy: 'consumer' } as const;
    const later = { ...query, from: `${toDay(FIRST_DAY * DAY_MS)}T04:00:00Z` };
    const before = await paged(query, 200);
    const laterBefore = await paged(later, 200);
    const largest = before.find(({ split }) => split !== null)?.split;
    for (const table of ['runs', 'usage_days'])
      await askStore(server.dataDir, `update ${table} set consumer_id = 'erased_1' where consumer_id = '${largest}'`);
    await askStore(
      server.dataDir,
      `insert into erasures (integration_id, erased_id, started_at, replaced_at) values ('demo', 'erased_1', 1, 2)`,
    );
    const rename = (items: typeof before) =>
      items.map((item) => ({ ...item, split: item.split === largest ? 'erased_1' : item.split }));
    assert.deepEqual(await paged(query, 200), rename(before));
    assert.deepEqual(await paged(later, 200), rename(laterBefore));
  });

  test('a repeated split by member reads no closed hour again on the same day', async (t) => {
    const [from, to] = [`${toDay(FIRST_DAY * DAY_MS)}T04:00:00Z`, toDay((FIRST_DAY + 5) * DAY_MS)];
    const query = { groupBy: 'day', splitBy: 'consumer', from, to: `${to}T00:00:00Z` } as const;
    const source = { reads: database.reads, closedDays: new ClosedDays() };
    const summary = async () => {
      let slices = 0;
      const countTurn = () => {
        slices += 1;
        return takeTurn();
      };
      const { items } = await usageSummary(
        { ...source, takeTurn: countTurn },
        newIntegrationId('demo'),
        { ...query, limit: 200 },
        300,
      );
      return { slices, items: (items as object[] as AnsweredItem[]).map(short) };
    };
    const [first, second] = [await summary(), await summary()];
    assert.deepEqual(second.items, first.items);
    // 20 hours, the closed days, their largest members, the members' tokens, and the shown members' days.
    assert.deepEqual([first.slices, second.slices], [24, 1]);
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + DAY_MS });
    const nextDay = await summary();
    // The sums of days without members are kept.
    assert.deepEqual([nextDay.slices, nextDay.items], [23, first.items]);
  });

  test('the rollups of a deleted integration are deleted', async () => {
    const hours = async () => Number((await askStore(server.dataDir, 'select count(*) as n from usage_hours'))[0]?.n);
    assert.ok((await hours()) > 0);
    assert.equal((await server.api.delete('/v2/integrations/demo')).status, 204);
    await server.server.probes.sweepRollups();
    assert.equal(await hours(), 0);
  });
}
