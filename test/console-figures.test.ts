import { deepEqual, equal, match } from 'node:assert/strict';
import { test } from 'node:test';
import type { Integration, ServiceNode, UpdateIntegrationRequest, UsageSummary } from '@runwire/client';
import { build } from 'esbuild';
import { sumNodes } from '../packages/console/src/pages/health/sum-nodes.ts';
import { periodError, periodTimes, readPeriod, toDays } from '../packages/console/src/pages/usage/usage-period.ts';

/* What the pages of usage, settings and health compute. */

type UsageItem = UsageSummary['items'][number];

interface Series {
  readonly key: string | null;
  readonly values: readonly number[];
  readonly total: number;
}

/** What the files of the console that need a browser's types export. */
interface PageCode {
  readonly Fields: new (data: FormData) => object;
  changedSettings(seen: Integration, fields: object): UpdateIntegrationRequest;
  getAmount(item: UsageItem, measure: 'tokens' | 'runs' | 'charge', unit: keyof UsageItem['charged'] | null): number;
  getSeries(items: readonly UsageItem[], days: readonly string[], amount: (item: UsageItem) => number): Series[];
}

async function loadPageCode(): Promise<PageCode> {
  const contents = ['ui/form.tsx', 'pages/integrations/changed-settings.ts', 'pages/usage/usage-data.ts']
    .map((file) => `export * from './${file}';`)
    .join('\n');
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: `${import.meta.dirname}/../packages/console/src` },
    define: { 'document.baseURI': '"http://127.0.0.1/console/"' },
    ...{ bundle: true, format: 'esm', jsx: 'automatic', conditions: ['runwire'], write: false },
  });
  return await import(`data:text/javascript;base64,${Buffer.from(outputFiles[0]?.contents ?? '').toBase64()}`);
}

const { Fields, changedSettings, getAmount, getSeries } = await loadPageCode();

const DAYS = ['2030-01-30', '2030-01-31', '2030-02-01'];

/** The usage of a day, or of a part of it. */
function used(key: string | null, runs: number, split?: string | null): UsageItem {
  const usage = { total_tokens: 100 * runs } as UsageItem['usage'];
  const charged = { runs, tokens: 10 * runs, credits: 0.5 * runs };
  const measures = { failed: 0, cancelled: 0, cost: null, durationMs: null, firstTokenMs: null };
  return { key, runs, usage, charged, ...measures, ...(split === undefined ? {} : { split }) };
}

const listRuns = (items: readonly UsageItem[]) => getSeries(items, DAYS, ({ runs }) => runs);

test('a series has one value for each day, and the sum of them', () => {
  deepEqual(listRuns([used('2030-02-01', 4), used('2030-01-30', 1)]), [{ key: null, values: [1, 0, 4], total: 5 }]);
});

test('several items of a day and a part are summed', () => {
  deepEqual(listRuns([used('2030-01-31', 1, 'ada'), used('2030-01-31', 2, 'ada')]), [
    { key: 'ada', values: [0, 3, 0], total: 3 },
  ]);
});

test('the largest series is first, and the others are last even if they are larger', () => {
  const items = [used('2030-01-30', 9, null), used('2030-01-30', 1, 'ada'), used('2030-02-01', 5, 'bao')];
  deepEqual(
    listRuns([...items, used('2030-01-31', 2, 'ada')]).map(({ key, total }) => [key, total]),
    [
      ['bao', 5],
      ['ada', 3],
      [null, 9],
    ],
  );
});

test('an empty period has no series, and items outside it are left out', () => {
  deepEqual(listRuns([]), []);
  deepEqual(listRuns([used('2030-02-02', 1), used(null, 1)]), []);
});

test('the amount of an item is its runs, its tokens or its charge in the unit', () => {
  const item = used('2030-01-31', 3);
  equal(getAmount(item, 'runs', 'credits'), 3);
  equal(getAmount(item, 'tokens', 'credits'), 300);
  equal(getAmount(item, 'charge', 'credits'), 1.5);
  equal(getAmount(item, 'charge', 'tokens'), 30);
});

test('the charge of an integration without allowances is its tokens', () => {
  equal(getAmount(used('2030-01-31', 3), 'charge', null), 300);
});

test('the default period is the last 30 days in UTC', () => {
  const period = { from: '2030-01-03', to: '2030-02-01' };
  deepEqual(readPeriod(undefined, undefined, Date.parse('2030-02-01T00:00:00Z')), period);
  deepEqual(readPeriod(undefined, undefined, Date.parse('2030-02-01T23:59:59.999Z')), period);
  equal(toDays(period).length, 30);
});

test('a period without a first day has the 30 days up to its last day', () => {
  deepEqual(readPeriod(undefined, '2028-03-01', 0), { from: '2028-02-01', to: '2028-03-01' });
});

test('text that is no day in an address is ignored', () => {
  const nowMs = Date.parse('2030-02-01T12:00:00Z');
  for (const text of [
    '',
    'today',
    '2030-1-3',
    '2030-13-01',
    '2030-01-32',
    '2030-02-31',
    '2030-01-01T00:00:00Z',
    ' 2030-01-01',
  ]) {
    deepEqual(readPeriod(text, text, nowMs), readPeriod(undefined, undefined, nowMs), text);
  }
});

test('the days of a period pass the end of a month and of a year', () => {
  deepEqual(toDays({ from: '2030-01-30', to: '2030-02-01' }), DAYS);
  deepEqual(toDays({ from: '2029-12-31', to: '2030-01-01' }), ['2029-12-31', '2030-01-01']);
  deepEqual(toDays({ from: '2028-02-28', to: '2028-03-01' }), ['2028-02-28', '2028-02-29', '2028-03-01']);
  deepEqual(toDays({ from: '2030-01-30', to: '2030-01-30' }), ['2030-01-30']);
});

test('the times of a period include its last day', () => {
  const from = '2029-12-01T00:00:00.000Z';
  deepEqual(periodTimes({ from: '2029-12-01', to: '2029-12-31' }), { from, to: '2030-01-01T00:00:00.000Z' });
  deepEqual(periodTimes({ from: '2029-12-01', to: '2029-12-01' }), { from, to: '2029-12-02T00:00:00.000Z' });
});

test('a period that ends before it begins is an error', () => {
  match(periodError({ from: '2030-02-01', to: '2030-01-31' })?.message ?? '', /after the last day/);
  equal(periodError({ from: '2030-02-01', to: '2030-02-01' }), null);
});

test('a period of more than 366 days is an error', () => {
  equal(periodError({ from: '2028-01-01', to: '2028-12-31' }), null);
  match(periodError({ from: '2028-01-01', to: '2029-01-01' })?.message ?? '', /at most 366 days/);
});

const SEEN: Integration = {
  apiIntegrationId: 'shop',
  name: 'Web shop',
  agency: 'support',
  defaultAgent: null,
  textOnly: false,
  allowances: { period: 'month', limit: 20_000, unit: 'tokens' },
  onDisconnect: 'continue',
  maxRunSeconds: 600,
  maxRunsPerMember: 3,
  keepAttachments: true,
  model: null,
  fileAccess: 'chat',
  memberFolder: '/app/mnt/members/{consumerId}',
  quotaBytes: null,
  memberQuotaBytes: 5000,
  clientTools: false,
  callerInstructions: false,
  autoRegister: false,
  compatibleApis: ['openai', 'ai-sdk', 'ag-ui', 'mcp', 'agency-swarm'],
  createdAt: '2030-01-01T00:00:00.000Z',
  updatedAt: '2030-01-01T00:00:00.000Z',
};

/** What the form contains before a person changes it. A checkbox that is not checked has no value. */
const SHOWN: Readonly<Record<string, string>> = {
  name: 'Web shop',
  agency: 'support',
  defaultAgent: '',
  model: '',
  unit: 'tokens',
  limit: '20000',
  period: 'month',
  maxRunsPerMember: '3',
  maxRunSeconds: '600',
  onDisconnect: 'continue',
  fileAccess: 'chat',
  memberFolder: '/app/mnt/members/{consumerId}',
  quotaBytes: '',
  memberQuotaBytes: '5000',
  keepAttachments: 'on',
  ...Object.fromEntries(
    ['openai', 'ai-sdk', 'ag-ui', 'mcp', 'agency-swarm'].map((name) => [`compatibleApis.${name}`, 'on']),
  ),
};

function changed(typed: Readonly<Record<string, string | null>>, seen = SEEN): UpdateIntegrationRequest {
  const data = new FormData();
  for (const [name, value] of Object.entries({ ...SHOWN, ...typed })) if (value !== null) data.set(name, value);
  return changedSettings(seen, new Fields(data));
}

test('a form without changes sends nothing', () => {
  deepEqual(changed({}), {});
  deepEqual(changed({ name: ' Web shop ' }, { ...SEEN, name: 'Web shop ' }), {});
  deepEqual(changed({ name: '' }, { ...SEEN, name: null }), {});
});

test('only the settings that a person changed are sent', () => {
  deepEqual(changed({ name: 'Shop', clientTools: 'on' }), { name: 'Shop', clientTools: true });
  deepEqual(changed({ keepAttachments: null }), { keepAttachments: false });
  deepEqual(changed({ model: 'large' }), { model: 'large' });
  deepEqual(changed({ 'compatibleApis.mcp': null }), { compatibleApis: ['openai', 'ai-sdk', 'ag-ui', 'agency-swarm'] });
});

test('an emptied number or model is sent as null', () => {
  deepEqual(changed({ maxRunsPerMember: '', maxRunSeconds: '' }), { maxRunsPerMember: null, maxRunSeconds: null });
  deepEqual(changed({ model: '' }, { ...SEEN, model: 'large' }), { model: null });
});

test('changed allowances are sent whole, and null if they are switched off', () => {
  deepEqual(changed({ limit: '5' }), { allowances: { unit: 'tokens', limit: 5, period: 'month' } });
  deepEqual(changed({ unit: 'none' }), { allowances: null });
  deepEqual(changed({ unit: 'none' }, { ...SEEN, allowances: null }), {});
});

test('another agency is sent with the chosen agent even if the agent has the same name', () => {
  const seen = { ...SEEN, defaultAgent: 'Desk' };
  deepEqual(changed({ agency: 'returns', defaultAgent: 'Desk' }, seen), { agency: 'returns', defaultAgent: 'Desk' });
  deepEqual(changed({ agency: 'returns' }), { agency: 'returns' });
});

const STATS = {
  openStreams: 2,
  admissions: { admitted: 10, replayed: 1, refused: { run_active: 1, rate_limited: 2 } },
  eventLagMs: 40,
  writerQueue: 3,
};

function node(fields: Partial<ServiceNode>): ServiceNode {
  return {
    ...{ nodeId: 'a', boot: 'b', state: 'alive', self: false, version: '1.0.0', host: null, address: null },
    ...{ startedAt: '2030-01-01T00:00:00.000Z', lastSeenAt: null, activeRuns: 1, stats: STATS },
    ...fields,
  };
}

test('counters are summed over all nodes, and the event lag is the longest', () => {
  const { activeRuns, openStreams, admitted, replayed, eventLagMs, writerQueue } = sumNodes([
    node({}),
    node({ state: 'draining', activeRuns: 4, stats: { ...STATS, eventLagMs: 90, writerQueue: 0 } }),
  ]);
  const sums = { activeRuns, openStreams, admitted, replayed, eventLagMs, writerQueue };
  deepEqual(sums, { activeRuns: 5, openStreams: 4, admitted: 20, replayed: 2, eventLagMs: 90, writerQueue: 3 });
});

test('refusals are summed by code, the most frequent first', () => {
  const refused = { quota: 9, run_active: 4 };
  const sums = sumNodes([node({}), node({ stats: { ...STATS, admissions: { ...STATS.admissions, refused } } })]);
  equal(sums.refused, 16);
  deepEqual(sums.refusedByCode, [
    ['quota', 9],
    ['run_active', 5],
    ['rate_limited', 2],
  ]);
});

test('a dead node counts only with its unfinished runs', () => {
  const sums = sumNodes([node({}), node({ state: 'dead', version: '0.9.0', activeRuns: 7 })]);
  deepEqual(sums, { ...sumNodes([node({})]), activeRuns: 8 });
});

test('a draining node is not alive, and its version is listed', () => {
  const { alive, versions } = sumNodes([node({ version: '1.1.0', state: 'draining' }), node({}), node({})]);
  deepEqual({ alive, versions }, { alive: 2, versions: ['1.0.0', '1.1.0'] });
});

test('nodes without figures count as zero', () => {
  const { alive, openStreams, eventLagMs, refusedByCode } = sumNodes([node({ stats: null })]);
  deepEqual(
    { alive, openStreams, eventLagMs, refusedByCode },
    { alive: 1, openStreams: 0, eventLagMs: 0, refusedByCode: [] },
  );
});
