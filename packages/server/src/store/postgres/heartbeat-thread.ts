import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { monotonicMs } from '@runwire/lib/monotonic.ts';
import { Client } from 'pg';
import { HeartbeatWatch } from '../heartbeat-watch.ts';
import type { HeartbeatReport, SeenHeartbeat } from '../heartbeats.ts';
import { NODE_ALIVE } from '../schema.ts';
import type { HeartbeatMessage, HeartbeatThreadData } from './postgres-heartbeats.ts';
import { sessionConfig } from './settings.ts';

const CONNECT_MS = 2000;

/** Raises the heartbeat if `$4` is true, and reads everything that a node needs to know about the others. */
const LOOK = `
with raised as (
  update node_beats set beat = beat + 1, seen_at = $2, draining = $3, stats_json = $5
  where $4 and node_id = $1 and exists (select 1 from nodes where node_id = $1 and dead = ${NODE_ALIVE})
  returning 1)
select (select count(*) from raised) as raised,
  exists (select 1 from nodes where node_id = $1 and dead = ${NODE_ALIVE}) as alive,
  (select count(*) from nodes where node_id <> $1 and dead = ${NODE_ALIVE}) as peers,
  coalesce((select json_agg(json_build_object('nodeId', b.node_id, 'beat', b.beat)) from node_beats b
    join nodes n on n.node_id = b.node_id
    where n.dead = ${NODE_ALIVE} and b.seen_at > 0 and n.node_id <> $1), '[]') as beats,
  exists (select 1 from active_runs where node_id not in
    (select node_id from nodes where dead = ${NODE_ALIVE})) as orphans`;

interface HeartbeatRow {
  readonly raised: number;
  readonly alive: boolean;
  readonly peers: number;
  readonly beats: readonly SeenHeartbeat[];
  readonly orphans: boolean;
}

const data = workerData as HeartbeatThreadData;
const { leaseMs, beatMs, lifeMs, gapMs } = data;
const life = new Float64Array(data.life);
const watch = new HeartbeatWatch(leaseMs, gapMs);
let client: Client | null = null;
let nodeId = '';
let draining = false;
let statsJson: string | null = null;
let raisedAt = Number.NEGATIVE_INFINITY;
/** True if the main thread asked for a heartbeat that begins after its request. */
let hurried = false;
let wake = new AbortController();

parentPort?.on('message', (message: HeartbeatMessage) => {
  if (message.statsJson !== undefined) {
    statsJson = message.statsJson;
    return;
  }
  if (message.nodeId !== undefined) nodeId = message.nodeId ?? '';
  if (message.draining === true) draining = true;
  hurried = true;
  wake.abort();
});

async function connected(): Promise<Client> {
  if (client !== null) return client;
  const made = new Client({
    ...sessionConfig(data.settings),
    connectionTimeoutMillis: CONNECT_MS,
    // An answer that arrives later than this is too old to be used.
    query_timeout: gapMs,
  });
  made.on('error', () => drop(made));
  try {
    await made.connect();
  } catch (error) {
    drop(made);
    throw error;
  }
  client = made;
  return made;
}

function drop(gone: Client): void {
  if (client === gone) client = null;
  gone.end().catch(() => {});
}

async function look(): Promise<void> {
  const by = await connected();
  const begunAt = monotonicMs();
  const as = nodeId;
  const lives = begunAt - (life[0] ?? 0) < lifeMs;
  // Raises the heartbeat half an interval early rather than late.
  const raises = as !== '' && lives && (hurried || begunAt - raisedAt >= (beatMs * 3) / 4);
  hurried = false;
  try {
    const { rows } = await by.query<HeartbeatRow>(LOOK, [as, Date.now(), draining ? 1 : 0, raises, statsJson]);
    const seen = rows[0];
    if (seen === undefined) return;
    if (raises) raisedAt = begunAt;
    const silent = watch.observe(begunAt, monotonicMs(), seen.beats);
    const { peers, orphans } = seen;
    const report: HeartbeatReport = {
      begunAt,
      nodeId: as,
      raised: seen.raised === 1,
      dead: as !== '' && !seen.alive,
      peers,
      silent,
      orphans,
    };
    parentPort?.postMessage(report);
  } catch {
    drop(by);
  }
}

for (;;) {
  // An error needs no report: the main thread knows the last heartbeat's age.
  await look().catch(() => {});
  await sleep(beatMs / 2, undefined, { signal: wake.signal }).catch(() => {});
  if (wake.signal.aborted) wake = new AbortController();
}
