import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { PageTurns, SCRIPTED_USAGE, STORES, type Store, type StoreName } from '@runwire/test-kit';
import { ErasedIds } from '../packages/server/src/domain/account/erased-ids.ts';
import { newIntegrationId } from '../packages/server/src/domain/ids.ts';
import type { EventLog } from '../packages/server/src/eventlog/event-log.ts';
import { ClosedDays } from '../packages/server/src/runs/closed-days.ts';
import { RunReads } from '../packages/server/src/runs/read-runs.ts';
import { usageCsv } from '../packages/server/src/runs/usage-csv.ts';
import { usageSummary } from '../packages/server/src/runs/usage-summary.ts';
import type { LargePages } from '../packages/server/src/store/large-pages.ts';
import { cites } from '../requirements/cite.ts';
import { ScriptedServer, shownUsage } from './support/scripted-server.ts';

const turns = new PageTurns(1);
const takeTurn = () => turns.take('owner');
const EACH = SCRIPTED_USAGE.inputTokens + SCRIPTED_USAGE.outputTokens;
const group = (key: string | null, runs: number) => ({
  key,
  runs,
  usage: shownUsage(runs),
  charged: { runs, tokens: runs * EACH, credits: 0 },
  ...{ failed: 0, cancelled: 0, cost: null },
});

const ADJUSTMENT_COLUMNS = ['adjustmentId', 'unit', 'amount', 'applied', 'reason', 'idempotencyKey', 'createdAt'];

/** A reader of RFC 4180 as published, to check our writer with. */
function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/y;
  while (field.lastIndex < text.length) {
    const found = field.exec(text);
    assert.ok(found !== null, 'not RFC 4180');
    row.push(found[1] === undefined ? (found[2] ?? '') : found[1].replaceAll('""', '"'));
    if (found[3] === '\r\n') {
      rows.push(row);
      row = [];
    }
  }
  return rows;
}

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  const closedDays = new ClosedDays();
  let rig: ScriptedServer;
  let database: Store;
  before(async () => {
    const wrapStore = (real: Store) => {
      database = real;
      return real;
    };
    rig = await ScriptedServer.start({ store, wrapStore });
  });
  after(() => rig[Symbol.asyncDispose]());

  /** Without times. */
  const summary = async (integration: string, query: string) => {
    const body = await wholeSummary(integration, query);
    const items = body.items.map(({ durationMs: _, firstTokenMs: __, ...item }: Record<string, unknown>) => item);
    return { ...body, items };
  };

  const wholeSummary = async (integration: string, query: string) => {
    const { status, body } = await rig.api.get(`/v2/integrations/${integration}/usage/summary?${query}`);
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  };

  test('sums usage by day, member, agent and model, newest group first', async (t) => {
    cites(t, 'contract-3-usage-summary', 'contract-9-usage-summary', 'contract-9-newest-first');
    t.mock.timers.enable({ apis: ['Date'], now: Date.parse('2031-01-01T00:00:00.000Z') });
    const integration = await rig.integration({ agency: 'test' });
    for (const member of ['ann', 'ben']) await rig.member(integration, member);
    const runs = [
      ['2031-01-01T10:00:00.000Z', 'ann', 'Clerk'],
      ['2031-01-02T00:00:00.000Z', 'ben', 'Clerk'],
      ['2031-01-02T23:59:59.999Z', undefined, 'Writer'],
      ['2031-01-03T00:00:00.000Z', 'ann', 'Clerk'],
    ] as const;
    for (const [at, consumerId, agent] of runs) {
      t.mock.timers.setTime(Date.parse(at));
      await rig.answer({ apiIntegrationId: integration, agent, consumerId });
    }
    assert.deepEqual(await summary(integration, 'groupBy=day'), {
      groupBy: 'day',
      from: null,
      to: null,
      items: [group('2031-01-03', 1), group('2031-01-02', 2), group('2031-01-01', 1)],
      nextCursor: null,
    });
    const items = async (query: string) => (await summary(integration, query)).items;
    assert.deepEqual(await items('groupBy=consumer'), [group('ann', 2), group(null, 1), group('ben', 1)]);
    assert.deepEqual(await items('groupBy=agent'), [group('Clerk', 3), group('Writer', 1)]);
    assert.deepEqual(await items('groupBy=model'), [group('scripted/model', 4)]);
    const times = 'from=2031-01-02T00:00:00Z&to=2031-01-03T00:00:00Z';
    const between = await summary(integration, `groupBy=consumer&${times}`);
    assert.deepEqual(
      [between.from, between.to, between.items],
      ['2031-01-02T00:00:00.000Z', '2031-01-03T00:00:00.000Z', [group(null, 1), group('ben', 1)]],
      'from ≤ admission < to',
    );
    for (const wrong of ['', 'groupBy=week', 'groupBy=day&from=yesterday', 'groupBy=day&limit=0']) {
      const { status } = await rig.api.get(`/v2/integrations/${integration}/usage/summary?${wrong}`);
      assert.equal(status, 400, wrong);
    }
  });

  test('pages contain each group once, also if its member runs between pages', async (t) => {
    cites(t, 'contract-3-usage-summary', 'contract-8-400-invalid-cursor');
    const integration = await rig.integration();
    const members = ['a', 'b', 'c', 'd', 'e'];
    for (const consumerId of members) {
      await rig.member(integration, consumerId);
      await rig.answer({ apiIntegrationId: integration, consumerId });
    }
    const seen: string[] = [];
    let cursor = '';
    do {
      const page = await summary(integration, `groupBy=consumer&limit=2${cursor}`);
      seen.push(...page.items.map(({ key, runs }: { key: string; runs: number }) => `${key}${runs}`));
      cursor = page.nextCursor === null ? '' : `&cursor=${page.nextCursor}`;
      // Without the ceiling the next page would not contain this member.
      await rig.answer({ apiIntegrationId: integration, consumerId: 'a' });
    } while (cursor !== '');
    assert.deepEqual(seen, ['e1', 'd1', 'c1', 'b1', 'a1']);
    const other = (await rig.api.get(`/v2/integrations/${integration}/usage?limit=1`)).body.nextCursor;
    for (const wrong of ['nonsense', other]) {
      const answer = await rig.api.get(`/v2/integrations/${integration}/usage/summary?groupBy=day&cursor=${wrong}`);
      assert.deepEqual([answer.status, answer.body.code], [400, 'invalid_cursor']);
    }
  });

  test('a run under way counts its finished steps and charges nothing yet', async (t) => {
    cites(t, 'contract-9-usage-summary');
    const integration = await rig.integration({ agency: 'test' });
    const held = await rig.hold({ apiIntegrationId: integration });
    await held.call.toolCall('call_1', 'echo', '{}');
    await held.call.end();
    const second = await rig.controller.nextCall();
    const nothing = { runs: 0, tokens: 0, credits: 0 };
    for (const groupBy of ['agent', 'model']) {
      const [only] = (await summary(integration, `groupBy=${groupBy}`)).items;
      assert.deepEqual([only.runs, only.usage, only.charged], [1, shownUsage(1), nothing], groupBy);
    }
    await second.fail('internal_error', 'Ours.');
    await held.reader.whole();
    for (const groupBy of ['agent', 'model']) {
      const [only] = (await summary(integration, `groupBy=${groupBy}`)).items;
      assert.deepEqual([only.runs, only.charged], [1, nothing], groupBy);
      assert.equal(only.usage.request_count, 2);
    }
  });

  test('returns all usage records as CSV, with the filters of the list', async (t) => {
    cites(t, 'contract-3-usage-csv');
    const integration = await rig.metered({ unit: 'tokens', limit: 1_000_000, period: 'month' });
    const evil = ['=cmd|"/c calc"!A1', '+1', '-1', '@SUM(A1)', 'a,"b"', 'plain'];
    for (const usageRequestId of evil) {
      await rig.answer({ apiIntegrationId: integration, consumerId: 'ann', usageRequestId });
    }
    await rig.member(integration, 'ben');
    await rig.answer({ apiIntegrationId: integration, consumerId: 'ben', usageRequestId: 'of-ben' });
    const answer = await rig.api.get(`/v2/integrations/${integration}/usage?format=csv&consumerId=ann`);
    assert.equal(answer.status, 200);
    assert.match(answer.headers.get('content-type') ?? '', /^text\/csv; charset=utf-8/);
    assert.match(answer.headers.get('content-disposition') ?? '', /^attachment; filename="usage-test-\d+\.csv"$/);
    const [header = [], ...rows] = parseCsv(answer.body);
    const records = (await rig.api.get(`/v2/integrations/${integration}/usage?consumerId=ann`)).body.items;
    assert.equal(rows.length, evil.length);
    for (const [place, row] of rows.entries()) {
      const { usage, charged, byModel, ...record } = records[place];
      const shown = Object.fromEntries(header.map((name, column) => [name, row[column]]));
      // A cell that a spreadsheet would run starts with an apostrophe.
      const id = /^[=+\-@]/.test(record.usageRequestId) ? `'${record.usageRequestId}` : record.usageRequestId;
      assert.deepEqual(shown, {
        ...record,
        firstTokenMs: String(record.firstTokenMs ?? ''),
        rerun: String(record.rerun),
        ...{ cost: '', currency: '' },
        usageRequestId: id,
        ...Object.fromEntries(Object.entries(usage).map(([name, value]) => [name, String(value)])),
        byModel: JSON.stringify(byModel),
        chargedUnit: charged.unit,
        chargedAmount: String(charged.amount),
        ...Object.fromEntries(ADJUSTMENT_COLUMNS.map((name) => [name, ''])),
      });
    }
    const both = await rig.api.get(`/v2/integrations/${integration}/usage?format=csv&limit=5`);
    assert.deepEqual([both.status, both.body.code], [400, 'invalid_request']);
    assert.deepEqual(
      parseCsv((await rig.api.get(`/v2/integrations/${await rig.integration()}/usage?format=csv`)).body),
      [header],
    );
  });

  test('slices and pages of any size agree, with one page in memory', async (t) => {
    cites(t, 'contract-3-usage-csv', 'contract-3-usage-summary');
    // Several runs have the same millisecond, so that slices end between them.
    t.mock.timers.enable({ apis: ['Date'], now: Date.parse('2032-01-01T00:00:00.000Z') });
    const integration = await rig.integration({ agency: 'test' });
    for (const member of ['ann', 'ben', 'cid']) await rig.member(integration, member);
    for (let n = 0; n < 12; n += 1) {
      if (n % 4 === 0) t.mock.timers.tick(43_200_000);
      const consumerId = ['ann', 'ben', 'cid'][n % 3];
      await rig.answer({ apiIntegrationId: integration, consumerId, agent: n % 5 === 0 ? 'Writer' : 'Clerk' });
    }
    for (const groupBy of ['day', 'consumer', 'agent', 'model'] as const) {
      const whole = await wholeSummary(integration, `groupBy=${groupBy}`);
      assert.equal(
        whole.items.reduce((sum: number, { runs }: { runs: number }) => sum + runs, 0),
        12,
      );
      for (const size of [1, 5, 6, 12]) {
        assert.deepEqual(
          await usageSummary(
            { reads: database.reads, takeTurn, closedDays },
            newIntegrationId(integration),
            { groupBy },
            size,
          ),
          whole,
          `${groupBy} by ${size}`,
        );
      }
    }
    const csv = (await rig.api.get(`/v2/integrations/${integration}/usage?format=csv`)).body;
    const runReads = new RunReads(
      database,
      new ErasedIds(''),
      null as unknown as EventLog,
      null as unknown as LargePages,
    );
    for (const size of [1, 5, 6, 12]) {
      const pages = await Array.fromAsync(usageCsv(runReads, takeTurn, newIntegrationId(integration), {}, size));
      assert.equal(pages.join(''), csv);
      for (const [place, page] of pages.entries())
        assert.ok(page.split('\r\n').length - 1 <= size + Number(place === 0));
    }
  });
}
