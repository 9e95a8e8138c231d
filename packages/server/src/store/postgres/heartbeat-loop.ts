import { setTimeout as sleep } from 'node:timers/promises';
import { monotonicMs } from '@runwire/lib/monotonic.ts';
import { Client } from 'pg';
import { HeartbeatWatch } from '../heartbeat-watch.ts';
import type { HeartbeatReport, SeenHeartbeat } from '../heartbeats.ts';
import { NODE_ALIVE } from '../schema.ts';
import { type PostgresSettings, sessionConfig } from './settings.ts';

export interface HeartbeatTimes {
  /** A node is dead if its heartbeat does not change for this long. */
  readonly leaseMs: number;
  readonly beatMs: number;
}

export interface HeartbeatLoopData extends HeartbeatTimes {
  readonly settings: PostgresSettings;
  /** The time of the last turn of the event loop. */
  readonly life: SharedArrayBuffer;
  readonly lifeMs: number;
  /** After a longer time without the database the other nodes' watch starts again. */
  readonly gapMs: number;
}

export interface HeartbeatMessage {
  readonly nodeId?: string | null;
  readonly draining?: true;
  /** A message with figures asks for no heartbeat. */
  readonly statsJson?: string;
}

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

/** Raises the heartbeat of one node at regular times, and watches the other nodes. */
export class HeartbeatLoop {
  readonly #data: HeartbeatLoopData;
  readonly #life: Float64Array;
  readonly #watch: HeartbeatWatch;
  readonly #onReport: (report: HeartbeatReport) => void;
  #client: Client | null = null;
  #nodeId = '';
  #isDraining = false;
  #statsJson: string | null = null;
  #raisedAt = Number.NEGATIVE_INFINITY;
  /** True if the server asked for a heartbeat that begins after its request. */
  #isHurried = false;
  #isStopped = false;
  #wake = new AbortController();

  constructor(data: HeartbeatLoopData, onReport: (report: HeartbeatReport) => void) {
    this.#data = data;
    this.#life = new Float64Array(data.life);
    this.#watch = new HeartbeatWatch(data.leaseMs, data.gapMs);
    this.#onReport = onReport;
  }

  receive(message: HeartbeatMessage): void {
    if (message.statsJson !== undefined) {
      this.#statsJson = message.statsJson;
      return;
    }
    if (message.nodeId !== undefined) this.#nodeId = message.nodeId ?? '';
    if (message.draining === true) this.#isDraining = true;
    this.#isHurried = true;
    this.#wake.abort();
  }

  async run(): Promise<void> {
    while (!this.#isStopped) {
      // An error needs no report: the main thread knows the last heartbeat's age.
      await this.#look().catch(() => {});
      await sleep(this.#data.beatMs / 2, undefined, { signal: this.#wake.signal, ref: false }).catch(() => {});
      if (this.#wake.signal.aborted && !this.#isStopped) this.#wake = new AbortController();
    }
  }

  /** Only for a loop without its own thread. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#wake.abort();
    await this.#client?.end().catch(() => {});
  }

  async #connected(): Promise<Client> {
    if (this.#client !== null) return this.#client;
    const made = new Client({
      ...sessionConfig(this.#data.settings),
      connectionTimeoutMillis: CONNECT_MS,
      // An answer that arrives later than this is too old to be used.
      query_timeout: this.#data.gapMs,
    });
    made.on('error', () => this.#drop(made));
    try {
      await made.connect();
    } catch (error) {
      this.#drop(made);
      throw error;
    }
    this.#client = made;
    return made;
  }

  #drop(gone: Client): void {
    if (this.#client === gone) this.#client = null;
    gone.end().catch(() => {});
  }

  async #look(): Promise<void> {
    const by = await this.#connected();
    const { lifeMs, beatMs } = this.#data;
    const begunAt = monotonicMs();
    const as = this.#nodeId;
    const lives = begunAt - (this.#life[0] ?? 0) < lifeMs;
    // Raises the heartbeat half an interval early rather than late.
    const raises = as !== '' && lives && (this.#isHurried || begunAt - this.#raisedAt >= (beatMs * 3) / 4);
    this.#isHurried = false;
    try {
      const values = [as, Date.now(), this.#isDraining ? 1 : 0, raises, this.#statsJson];
      const { rows } = await by.query<HeartbeatRow>(LOOK, values);
      const seen = rows[0];
      if (seen === undefined) return;
      if (raises) this.#raisedAt = begunAt;
      const silent = this.#watch.observe(begunAt, monotonicMs(), seen.beats);
      this.#onReport({
        begunAt,
        nodeId: as,
        raised: seen.raised === 1,
        dead: as !== '' && !seen.alive,
        peers: seen.peers,
        silent,
        orphans: seen.orphans,
      });
    } catch {
      this.#drop(by);
    }
  }
}
