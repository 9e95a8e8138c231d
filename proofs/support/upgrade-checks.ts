import type { PostgresServer } from '@runwire/test-kit';
import { expectEqual, expectNumber } from './proof.ts';
import type { UpgradeLoad } from './upgrade-load.ts';
import { kindOf, tokensOf } from './upgrade-model.ts';
import type { UpgradeNodes } from './upgrade-nodes.ts';

const ALIVE = 0;
const RELEASED = 2;
const PAGE = 200;

/** The database from outside: what its rows say, whatever the servers say. */
export class UpgradeDatabase {
  readonly url: string;
  readonly #postgres: PostgresServer;
  readonly #name: string;

  constructor(postgres: PostgresServer, url: string) {
    this.#postgres = postgres;
    this.url = url;
    this.#name = new URL(url).pathname.slice(1);
  }

  async #rows(text: string): Promise<Record<string, unknown>[]> {
    return await this.#postgres.query(text, this.#name);
  }

  /** In the order in which they were started. */
  async nodeIds(): Promise<string[]> {
    return (await this.#rows('select node_id from nodes order by started_at')).map(({ node_id: id }) => String(id));
  }

  /** Those that stopped let go of their runs themselves; nobody was taken for dead. */
  async checkNodes(living: readonly string[], stopped: readonly string[]): Promise<void> {
    const rows = await this.#rows('select node_id, dead from nodes');
    const states = new Map(rows.map(({ node_id: id, dead }) => [String(id), Number(dead)]));
    const taken = living.filter((id) => states.get(id) !== ALIVE).length;
    expectNumber('living servers that were taken for dead', taken, 0);
    const unreleased = stopped.filter((id) => states.get(id) !== RELEASED).length;
    expectNumber('servers that stopped in good order and were taken for dead', unreleased, 0);
  }

  /** Every admitted request is one run, ended and charged once, and there are no others. */
  async checkRuns(load: UpgradeLoad): Promise<{ readonly runs: number; readonly handedOver: number }> {
    const rows = await this.#rows(`select run_id, usage_request_id, status, attempt, crashes, charged_runs, unit,
      input_tokens + output_tokens as tokens from runs`);
    expectNumber('runs', rows.length, load.runs.size);
    let handedOver = 0;
    for (const row of rows) {
      const runId = String(row.run_id);
      const request = load.runs.get(runId);
      expectEqual(`request of ${runId}`, row.usage_request_id, request?.body.usageRequestId);
      const message = request?.body.message ?? '';
      const isTalk = kindOf(message) === 'talk';
      const ends = isTalk ? ['cancelled', 'completed'] : ['completed'];
      expectEqual(`end of ${runId}`, ends.includes(String(row.status)), true);
      expectNumber(`crashes of ${runId}`, Number(row.crashes), 0);
      expectNumber(`times that ${runId} was charged`, Number(row.charged_runs), 1);
      if (Number(row.attempt) > 1) handedOver += 1;
      // Of a call that was given up counts what was stored of it.
      else if (row.status === 'completed') expectNumber(`tokens of ${runId}`, Number(row.tokens), tokensOf(message));
    }
    return { runs: rows.length, handedOver };
  }

  /** Day totals are the sums of what the runs were charged, and no member is above its limit. */
  async checkMoney(): Promise<void> {
    const wrong = await this.#rows(`select * from
      (select integration_id, consumer_id, day, sum(charged_runs)::bigint as runs, sum(charged_tokens)::bigint as tokens
        from runs group by 1, 2, 3) r
      full join (select integration_id, consumer_id, day, runs::bigint, tokens::bigint from usage_days) d
        using (integration_id, consumer_id, day)
      where r.runs is distinct from d.runs or r.tokens is distinct from d.tokens`);
    expectEqual('day totals that are not the sum of what was charged', wrong, []);
  }
}

/** What a server lists as usage: one record for each run, and none twice. */
export async function countUsage(nodes: UpgradeNodes, integration: string): Promise<number> {
  const seen = new Set<string>();
  let cursor: string | null = null;
  do {
    const path: string = `/v2/integrations/${integration}/usage?limit=${PAGE}${cursor === null ? '' : `&cursor=${cursor}`}`;
    const { status, body } = await nodes.ask(AbortSignal.timeout(60_000), 'GET', path);
    expectNumber(`status of GET ${path}`, status, 200);
    for (const { usageRequestId } of body.items) {
      expectEqual(`usage records of ${usageRequestId}`, seen.has(usageRequestId) ? 2 : 1, 1);
      seen.add(usageRequestId);
    }
    cursor = body.nextCursor ?? null;
  } while (cursor !== null);
  return seen.size;
}
