import { Counter, exposition, Gauge, Histogram } from './exposition.ts';

const FAST_MS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000];
const SLOW_MS = [50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000, 120_000];

/** What only the parts themselves know, asked when somebody reads the metrics. */
export interface Probes {
  readonly version: string;
  readonly activeRuns: () => number;
  readonly openStreams: () => number;
  readonly fullStreams: () => number;
  readonly writerQueue: () => number;
  readonly unstoredBytes: () => number;
  readonly attachmentsBytes: () => number;
  /** 0 on the embedded store, which has one node. */
  readonly beatAgeMs: () => number;
  /** Measured once, at the start. */
  readonly syncMs: number;
}

/** All in memory and touched once per request, run, step or commit: never per token, never a write. */
export class Metrics {
  readonly admissions = new Counter(
    'runwire_admissions_total',
    'Completion requests by outcome: admitted, replayed, or refused with this code.',
    { outcome: 'refused', code: 'unavailable' },
  );
  readonly runsEnded = new Counter(
    'runwire_runs_ended_total',
    'Ended runs by status, failed ones by code.',
    { status: 'failed', code: 'internal_error' },
    { status: 'failed', code: 'run_interrupted' },
  );
  readonly firstToken = new Histogram(
    'runwire_model_first_token_seconds',
    'From the call of a model to the first thing it said.',
    SLOW_MS,
  );
  readonly eventLag = new Histogram(
    'runwire_event_lag_seconds',
    'From the oldest event of a batch to its being stored. Readers do not wait for this.',
    FAST_MS,
  );
  readonly commit = new Histogram('runwire_commit_seconds', 'A commit of the writer with all that it holds.', FAST_MS);
  readonly sync = new Histogram('runwire_sync_seconds', 'The part of a commit that waits for the disk.', FAST_MS);

  readonly attachments = new Counter(
    'runwire_attachments_total',
    'Attachments that were to be fetched from their URLs, by outcome: fetched, and of these unreadable; refused, as not to be fetched from there; or failed.',
    { outcome: 'fetched' },
    { outcome: 'unreadable' },
    { outcome: 'refused' },
    { outcome: 'failed' },
  );
  readonly attachmentBytes = new Counter(
    'runwire_attachment_bytes_total',
    'Bytes of attachments that were fetched.',
    {},
  );
  readonly attachmentFetch = new Histogram(
    'runwire_attachment_fetch_seconds',
    'From the look-up of an attachment’s host to its last byte, or to what went wrong.',
    SLOW_MS,
  );

  readonly runsTakenOver = new Counter(
    'runwire_runs_taken_over_total',
    'Runs of nodes that were gone, by what became of them here: they go on, or were ended.',
    { outcome: 'resumed' },
    { outcome: 'ended' },
  );
  readonly nodesFenced = new Counter('runwire_nodes_fenced_total', 'Nodes that this one took for dead.', {});

  readonly conflicts = new Counter(
    'runwire_store_conflicts_total',
    'Transactions on PostgreSQL that lost a race with another and were done again: by a unique index, or repeated whole.',
  );

  /** The page that Prometheus reads. */
  text(probes: Probes): string {
    return exposition([
      new Gauge('runwire_info', 'The version that runs.', () => 1, { version: probes.version }),
      this.admissions,
      this.runsEnded,
      new Gauge('runwire_active_runs', 'Runs under way on this node.', probes.activeRuns),
      new Gauge('runwire_open_streams', 'Connections that follow a run.', probes.openStreams),
      new Gauge('runwire_full_streams', 'Of these, those whose reader is behind.', probes.fullStreams),
      new Gauge('runwire_writer_queue', 'Transactions that wait for the writer.', probes.writerQueue),
      new Gauge('runwire_unstored_bytes', 'Said by models and not stored yet, of all runs.', probes.unstoredBytes),
      new Gauge(
        'runwire_attachments_held_bytes',
        'Reserved for attachments that are being fetched or read.',
        probes.attachmentsBytes,
      ),
      new Gauge('runwire_start_sync_seconds', 'The median sync measured at start.', () => probes.syncMs / 1000),
      new Gauge('runwire_beat_age_seconds', 'Since the last beat of this node began.', () => probes.beatAgeMs() / 1000),
      this.attachments,
      this.attachmentBytes,
      this.attachmentFetch,
      this.runsTakenOver,
      this.nodesFenced,
      this.firstToken,
      this.eventLag,
      this.commit,
      this.sync,
      this.conflicts,
    ]);
  }
}
