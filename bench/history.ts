import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';

/*
 * Fills a database with a long past: chats with their messages, members, ended runs with their usage, and the rollups.
 *
 *   await fillHistory({ kind: 'sqlite', path }, { integrationId: 'demo', ...MILLION, endMs: Date.now(), counted: true });
 *   await fillHistory({ kind: 'postgres', url }, …);
 *
 * The database has the tables of this version and the integration, and no server uses the SQLite file. Call it once for an
 * integration that has no runs. The rows depend only on the options: run `n` belongs to chat `n / runsPerChat`, and is admitted
 * `n / runs` of the days after the begin. Every 40th run failed, every 100th was cancelled, and every 50th used two models.
 * With `counted: false` the runs look like those of an earlier version: the server adds them to the rollups, and its sweep of
 * events visits all of them. Otherwise nothing is left to do for the server, and PostgreSQL has vacuumed its tables.
 */

export interface HistorySizes {
  readonly runs: number;
  readonly chats: number;
  readonly members: number;
  readonly days: number;
}

export const MILLION: HistorySizes = { runs: 1_000_000, chats: 250_000, members: 100_000, days: 90 };

export interface HistoryOptions extends HistorySizes {
  readonly integrationId: string;
  /** The admission of the newest run is before this time. */
  readonly endMs: number;
  readonly counted: boolean;
}

export type HistoryDatabase =
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres'; readonly url: string };

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

export async function fillHistory(database: HistoryDatabase, options: HistoryOptions): Promise<void> {
  const statements = historyStatements(database.kind, options);
  if (database.kind === 'sqlite') {
    const file = new DatabaseSync(database.path);
    try {
      file.exec('pragma synchronous = off; pragma cache_size = -200000; begin');
      for (const statement of statements) file.exec(statement);
      file.exec('commit; pragma wal_checkpoint(truncate)');
    } finally {
      file.close();
    }
    return;
  }
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    // Otherwise autovacuum reads the new tables during the measurement, as it does once after so many new rows.
    const settling = ['vacuum analyze', 'checkpoint'];
    for (const statement of ['begin', 'set local synchronous_commit = off', ...statements, 'commit', ...settling])
      await client.query(statement);
  } finally {
    await client.end();
  }
}

function historyStatements(kind: HistoryDatabase['kind'], options: HistoryOptions): string[] {
  const { runs, chats, members, days, endMs, counted } = options;
  const integration = `'${options.integrationId.replaceAll("'", "''")}'`;
  const beginMs = endMs - days * DAY_MS;
  const numbers = (count: number) =>
    kind === 'postgres'
      ? `generate_series(0, ${count - 1}) as numbers (n)`
      : `(with recursive counted (n) as (select 0 union all select n + 1 from counted where n < ${count - 1}) select n from counted) as numbers`;
  const id = (prefix: string, number: string) =>
    kind === 'postgres'
      ? `'${prefix}_00' || lpad(cast(${number} as text), 24, '0')`
      : `'${prefix}_00' || printf('%024d', ${number})`;
  const runsPerChat = Math.max(1, Math.floor(runs / chats));
  const chat = `(n / ${runsPerChat})`;
  // A prime that divides no round number of members spreads the chats over them.
  const memberNumber = `(${chat} * 7919 % ${members})`;
  const consumer = `'member-' || ${memberNumber}`;
  const createdAt = `(${beginMs} + cast(n as bigint) * ${Math.floor((days * DAY_MS) / runs)})`;
  const agent = `case ${chat} % 4 when 0 then 'Concierge' when 1 then 'Billing' when 2 then 'Travel' else 'Support' end`;
  const firstModel = `case ${chat} % 4 when 1 then 'offline/large' else 'offline/demo' end`;
  const status = `case when n % 40 = 7 then 'failed' when n % 100 = 9 then 'cancelled' else 'completed' end`;
  const errorCode = `case when n % 40 = 7 then case n % 80 when 7 then 'model_failed' else 'run_timeout' end end`;
  const hasTwoModels = '(n % 50 = 3)';
  const usage = (extra: number, from: string) => `${from} + case when ${hasTwoModels} then ${extra} else 0 end`;
  const modelJson = (model: string, input: string, cached: string, output: string, reasoning: string) =>
    `'{"model":"' || ${model} || '","requestCount":1,"inputTokens":' || ${input} || ',"cachedTokens":' || ${cached} || ',"outputTokens":' || ${output} || ',"reasoningTokens":' || ${reasoning} || ',"credits":1}'`;
  const input = '(200 + n % 911)';
  const output = '(30 + n % 173)';
  const isFree = 'n % 80 = 47';
  const statements = [
    `insert into members (integration_id, consumer_id, sort_key, name_json, active, metadata_json, own_limit, created_at,
        updated_at)
      select ${integration}, 'member-' || n, ${id('member', 'n')}, '"Member ' || n || '"', 1, '{}', null, ${beginMs}, ${beginMs}
      from ${numbers(members)}`,
    `insert into chats (chat_key, integration_id, chat_id, alias, consumer_id, num_messages, text_bytes, created_at,
        updated_at, deleted_at)
      select ${id('chat', chat)}, ${integration}, ${id('chat', chat)}, null, ${consumer}, ${2 * runsPerChat},
        ${100 * runsPerChat}, ${createdAt}, ${createdAt}, null
      from ${numbers(runs)} where n % ${runsPerChat} = 0`,
    `insert into runs (run_id, integration_id, chat_key, consumer_id, usage_request_id, fingerprint, status, agency, agent,
        node_id, attempt, crashes, step, journal_format, held, unit, day, period, period_start, last_event_id, error_code,
        error_message, request_count, input_tokens, cached_tokens, output_tokens, reasoning_tokens, by_model_json,
        charged_runs, charged_tokens, charged_credits, created_at, started_at, completed_at, compacted_at, agency_version,
        structured, file_access, counted, tracked)
      select ${id('run', 'n')}, ${integration}, ${id('chat', chat)}, ${consumer}, 'request-' || n, 'fingerprint', ${status},
        'demo', ${agent}, 'node_past', 1, 0, 1, 1, 0, 'tokens', ${createdAt} / ${DAY_MS}, 'month', ${beginMs}, 24,
        ${errorCode}, ${errorCode}, 1 + case when ${hasTwoModels} then 1 else 0 end, ${usage(50, input)}, ${usage(7, '(n % 64)')},
        ${usage(20, output)}, ${usage(3, '(n % 16)')},
        '[' || ${modelJson(firstModel, input, '(n % 64)', output, '(n % 16)')}
          || case when ${hasTwoModels} then ',' || ${modelJson("'offline/small'", '50', '7', '20', '3')} else '' end || ']',
        case when ${isFree} then 0 else 1 end,
        case when ${isFree} then 0 else ${usage(70, `${input} + ${output}`)} end,
        case when ${isFree} then 0 else ${usage(1, '1')} end,
        ${createdAt}, ${createdAt} + 5, ${createdAt} + 2000 + n % 3000, ${createdAt} + 9000, 'version-' || (n * 3 / ${runs}),
        0, 'chat', ${counted ? 1 : 0}, 2
      from ${numbers(runs)}`,
    `insert into messages (message_id, chat_key, position, run_id, role, status, agent, content_json, created_at)
      select ${id('msg', 'n * 2 + role')}, ${id('chat', chat)}, n % ${runsPerChat} * 2 + 1 + role, ${id('run', 'n')},
        case role when 0 then 'user' else 'assistant' end, case role when 0 then 'completed' else ${status} end, ${agent},
        case role when 0 then '"What about number ' || n || '? I asked for it on Monday."'
          else '"Number ' || n || ' is on its way and arrives tomorrow at noon."' end, ${createdAt} + role * 2000
      from ${numbers(runs)}, (select 0 as role union all select 1) roles`,
  ];
  statements.push(`insert into unsuccessful_runs (integration_id, status, created_at, run_id)
      select integration_id, status, created_at, run_id from runs
      where integration_id = ${integration} and status <> 'completed'`);
  if (!counted) {
    statements.push(`insert into usage_walk (id, after_run_id, last_run_id)
      select 1, '', max(run_id) from runs where integration_id = ${integration}`);
  }
  const sums = `sum(request_count), sum(input_tokens), sum(cached_tokens), sum(output_tokens), sum(reasoning_tokens),
        sum(charged_runs), sum(charged_tokens), sum(charged_credits)`;
  statements.push(
    `insert into usage_days (integration_id, consumer_id, day, runs, tokens, credits
        ${counted ? ', ended_runs, request_count, input_tokens, cached_tokens, output_tokens, reasoning_tokens, charged_runs, charged_tokens, charged_credits, newest_run_id' : ''})
      select integration_id, consumer_id, day, sum(charged_runs), sum(charged_tokens), sum(charged_credits)
        ${counted ? `, count(*), ${sums}, max(run_id)` : ''}
      from runs where integration_id = ${integration} group by integration_id, consumer_id, day`,
  );
  if (!counted) return statements;
  // All runs are compacted. Without the position the sweep would visit each of them after the next start.
  statements.push(`insert into sweep_positions (name, position)
      select 'events', max(run_id) from runs where integration_id = ${integration}`);
  const key = `integration_id, created_at / ${HOUR_MS}, node_id, agent`;
  const rest = `status, coalesce(error_code, ''), coalesce(agency_version, '')`;
  const twoModels = `by_model_json like '%},{%'`;
  const own = (column: string, extra: number) => `sum(${column} - case when ${twoModels} then ${extra} else 0 end)`;
  const charged = `case when charged_runs = 1 and ${twoModels} then`;
  const columns = `integration_id, hour, node_id, agent, model, status, error_code, agency_version, has_member, rerun, runs,
        model_runs, request_count, input_tokens, cached_tokens, output_tokens, reasoning_tokens, charged_runs,
        charged_model_runs, charged_tokens, charged_credits, newest_run_id`;
  const runModel = `case agent when 'Billing' then 'offline/large' else 'offline/demo' end`;
  statements.push(
    `insert into usage_hours (${columns})
      select ${key}, ${runModel}, ${rest}, 1, 0, count(*), count(*), ${own('request_count', 1)}, ${own('input_tokens', 50)},
        ${own('cached_tokens', 7)}, ${own('output_tokens', 20)}, ${own('reasoning_tokens', 3)}, sum(charged_runs),
        sum(charged_runs), sum(charged_tokens - ${charged} 70 else 0 end), sum(charged_credits - ${charged} 1 else 0 end),
        max(run_id)
      from runs where integration_id = ${integration}
      group by ${key}, ${runModel}, ${rest}`,
    `insert into usage_hours (${columns})
      select ${key}, 'offline/small', ${rest}, 1, 0, 0, count(*), count(*), 50 * count(*), 7 * count(*), 20 * count(*),
        3 * count(*), 0, sum(charged_runs), 70 * sum(charged_runs), sum(charged_runs), max(run_id)
      from runs where integration_id = ${integration} and ${twoModels}
      group by ${key}, ${rest}`,
  );
  return statements;
}
