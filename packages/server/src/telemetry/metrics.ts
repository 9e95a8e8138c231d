import { Counter, exposition, Histogram, Info, LabelledReading, Reading } from './exposition.ts';
import { processMetrics } from './process-metrics.ts';
import { RecentMaximum } from './recent-maximum.ts';

const FAST_MS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000];
const SLOW_MS = [50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000, 120_000];
const REQUEST_MS = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000];
const RUN_MS = [100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000, 120_000, 300_000, 600_000, 1_800_000];
const LOOP_MS = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000];

const RECENT_LAG_MS = 10_000;

// The buckets that the GenAI conventions of OpenTelemetry recommend.
const CALL_MS = [10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120, 10_240, 20_480, 40_960, 81_920];
const CHUNK_MS = [1, 5, 10, 20, 40, 60, 80, 100, 250, 500, 750, 1000, 2500, 5000, 7500, 10_000];
const TOKENS = Array.from({ length: 14 }, (_, power) => 4 ** power);

/** Agencies can name any number of models. Those after the first 50 share the label `other`. */
const MAX_MODELS = 50;

interface TokenUsage {
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
}

interface McpServerReading {
  readonly agency: string;
  readonly server: string;
  readonly state: string;
}

/** The labels of a model that the GenAI conventions name. Made once per model. */
interface GenAiLabels {
  readonly call: Readonly<Record<string, string>>;
  readonly input: Readonly<Record<string, string>>;
  readonly output: Readonly<Record<string, string>>;
}

function toGenAiLabels(model: string): GenAiLabels {
  const at = model.indexOf('/');
  const call = {
    gen_ai_operation_name: 'chat',
    gen_ai_provider_name: at === -1 ? model : model.slice(0, at),
    gen_ai_request_model: model.slice(at + 1),
  };
  return {
    call,
    input: { ...call, gen_ai_token_type: 'input' },
    output: { ...call, gen_ai_token_type: 'output' },
  };
}

const OTHER = 'other';
const OTHER_LABELS = toGenAiLabels(OTHER);

/** Figures that other parts of the server keep. They are read when the metrics are shown. */
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
  /** The MCP servers of all agencies. */
  readonly mcpServers: () => readonly McpServerReading[];
  /** How long the first due delivery of a webhook has waited. */
  readonly webhookDueMs: () => number;
  /** 0 if traces are off. */
  readonly droppedSpans: () => number;
  /** Measured once, at the start. */
  readonly syncMs: number;
}

/** All metrics are in memory. They change once per request, run, step or commit, never per token, and cost no write. */
export class Metrics {
  readonly admissions = new Counter(
    'runwire_admissions_total',
    'Completion requests, by outcome: admitted, replayed, or the code of the refusal.',
    { outcome: 'refused', code: 'unavailable' },
  );
  readonly runsEnded = new Counter(
    'runwire_runs_ended_total',
    'Ended runs, by status; failed runs also by code.',
    { status: 'failed', code: 'internal_error' },
    { status: 'failed', code: 'run_interrupted' },
  );
  readonly #firstToken = new Histogram(
    'runwire_model_first_token_seconds',
    'Time from the call of a model to its first output.',
    SLOW_MS,
  );
  readonly runFirstToken = new Histogram(
    'runwire_run_first_token_seconds',
    'Time from the start of a run to the first output of its model, including attachments and waiting.',
    SLOW_MS,
  );
  readonly runDuration = new Histogram(
    'runwire_run_seconds',
    'Time from the start of a run to its end, by status.',
    RUN_MS,
  );
  readonly #tokens = new Counter(
    'runwire_tokens_total',
    'Tokens of model calls, by model and kind. Cached tokens are part of input, reasoning tokens are part of output.',
  );
  readonly #callDuration = new Histogram(
    'gen_ai_client_operation_duration_seconds',
    'Duration of model calls, by provider and model; failed calls also by error type.',
    CALL_MS,
  );
  readonly #firstChunk = new Histogram(
    'gen_ai_client_operation_time_to_first_chunk_seconds',
    'Time from a model call to its first output, by provider and model.',
    CHUNK_MS,
  );
  readonly #callTokens = new Histogram(
    'gen_ai_client_token_usage',
    'Tokens per model call, by provider, model and token type.',
    TOKENS,
    1,
  );
  readonly #requests = new Counter(
    'runwire_http_requests_total',
    'Answered requests, by method, route and status. The route is unmatched if the path or its method does not exist.',
  );
  readonly #requestDuration = new Histogram(
    'runwire_http_request_seconds',
    'Time from the arrival of a request to the beginning of its answer, by method and route.',
    REQUEST_MS,
  );
  readonly eventLoopDelay = new Histogram(
    'runwire_event_loop_delay_seconds',
    'Delay of timers, measured ten times a second. During this delay no request is answered.',
    LOOP_MS,
  );
  readonly #recentEventLag = new RecentMaximum(RECENT_LAG_MS);
  readonly #eventLag = new Histogram(
    'runwire_event_lag_seconds',
    'Time from the oldest event of a batch until the batch is stored. Readers do not wait for this.',
    FAST_MS,
  );
  readonly commit = new Histogram(
    'runwire_commit_seconds',
    'Time of a commit of the writer, with all its jobs.',
    FAST_MS,
  );
  readonly sync = new Histogram('runwire_sync_seconds', 'Time that a commit waits for the disk.', FAST_MS);

  readonly attachments = new Counter(
    'runwire_attachments_total',
    'Attachments by URL, by outcome: fetched; unreadable (fetched, but not usable); refused (the address is not allowed); or failed.',
    { outcome: 'fetched' },
    { outcome: 'unreadable' },
    { outcome: 'refused' },
    { outcome: 'failed' },
  );
  readonly attachmentBytes = new Counter('runwire_attachment_bytes_total', 'Bytes of fetched attachments.', {});
  readonly attachmentFetch = new Histogram(
    'runwire_attachment_fetch_seconds',
    'Time from the lookup of the host of an attachment to its last byte or its failure.',
    SLOW_MS,
  );

  readonly runsTakenOver = new Counter(
    'runwire_runs_taken_over_total',
    'Orphaned runs that this node took over, by outcome: resumed or ended.',
    { outcome: 'resumed' },
    { outcome: 'ended' },
  );
  readonly agencyFaults = new Counter(
    'runwire_agency_faults_total',
    "Faults of agencies' code, by agency and kind: rejection (nothing handled it), or why the process ended: exception, exit, memory, silent, replaced.",
  );
  readonly nodesFenced = new Counter('runwire_nodes_fenced_total', 'Nodes that this node fenced.', {});

  readonly webhookDeliveries = new Counter(
    'runwire_webhook_attempts_total',
    'Attempts to deliver a webhook, by outcome: delivered, retried (another attempt follows) or failed (it was the last one).',
    { outcome: 'delivered' },
    { outcome: 'retried' },
    { outcome: 'failed' },
  );
  readonly webhooksDisabled = new Counter(
    'runwire_webhooks_disabled_total',
    'Webhook endpoints that this node disabled, because they are gone or only failed for 72 hours.',
    {},
  );

  readonly scheduleTicks = new Counter(
    'runwire_schedule_ticks_total',
    'Recorded ticks of schedules, by outcome: run (it has a run) or refusal.',
    { outcome: 'run' },
    { outcome: 'refusal' },
  );

  readonly conflicts = new Counter(
    'runwire_store_conflicts_total',
    'PostgreSQL transactions that lost a race with another: settled by a unique index, or repeated.',
  );

  readonly #process = processMetrics();
  readonly #models = new Map<string, GenAiLabels>();

  /** Called once per answer. `route` is null if there is none for the method and path of the request. */
  answered(method: string, route: string | null, status: number, afterMs: number): void {
    const labels = { method, route: route ?? 'unmatched' };
    this.#requests.add({ ...labels, status: String(status) });
    this.#requestDuration.observe(afterMs, labels);
  }

  /** Called once per batch of events that was stored. */
  eventsStored(lagMs: number): void {
    this.#eventLag.observe(lagMs);
    this.#recentEventLag.observe(lagMs);
  }

  /** The longest lag of events within the last 10 to 20 s. */
  get recentEventLagMs(): number {
    return Math.round(this.#recentEventLag.value);
  }

  /** Completion requests by outcome; refused ones by code. */
  get admissionTotals() {
    const totals = { admitted: 0, replayed: 0, refused: {} as Record<string, number> };
    for (const { labels, value } of this.admissions.values) {
      const { outcome, code } = labels;
      if (outcome === 'admitted' || outcome === 'replayed') totals[outcome] += value;
      else if (code !== undefined && value > 0) totals.refused[code] = value;
    }
    return totals;
  }

  /** Called once per response of a model. */
  firstOutput(model: string, afterMs: number): void {
    const label = this.#modelLabel(model);
    this.#firstToken.observe(afterMs, { model: label });
    this.#firstChunk.observe(afterMs, this.#genAiLabels(label).call);
  }

  /** Called once per call of a model, when it ends. `errorType` is null if the call succeeded. */
  calledModel(model: string, durationMs: number, errorType: string | null): void {
    const { call } = this.#genAiLabels(this.#modelLabel(model));
    this.#callDuration.observe(durationMs, errorType === null ? call : { ...call, error_type: errorType });
  }

  /** Called once per call of a model, when it ends. */
  usedTokens(model: string, usage: TokenUsage): void {
    const label = this.#modelLabel(model);
    this.#tokens.add({ model: label, kind: 'input' }, usage.inputTokens);
    this.#tokens.add({ model: label, kind: 'cached' }, usage.cachedTokens);
    this.#tokens.add({ model: label, kind: 'output' }, usage.outputTokens);
    this.#tokens.add({ model: label, kind: 'reasoning' }, usage.reasoningTokens);
    const { input, output } = this.#genAiLabels(label);
    this.#callTokens.observe(usage.inputTokens, input);
    this.#callTokens.observe(usage.outputTokens, output);
  }

  #modelLabel(model: string): string {
    if (this.#models.has(model)) return model;
    if (this.#models.size >= MAX_MODELS) return OTHER;
    this.#models.set(model, toGenAiLabels(model));
    return model;
  }

  #genAiLabels(label: string): GenAiLabels {
    return this.#models.get(label) ?? OTHER_LABELS;
  }

  /** The page that Prometheus reads. */
  text(probes: Probes): string {
    return exposition([
      new Info('runwire_info', 'The version of the server.', { version: probes.version }),
      this.admissions,
      this.runsEnded,
      this.runDuration,
      this.runFirstToken,
      this.#tokens,
      this.#requests,
      this.#requestDuration,
      new Reading('gauge', 'runwire_active_runs', 'Active runs on this node.', probes.activeRuns),
      new Reading(
        'counter',
        'runwire_trace_spans_dropped_total',
        'Spans that were not exported: the queue was full, or the exporter failed.',
        probes.droppedSpans,
      ),
      new Reading('gauge', 'runwire_open_streams', 'Open streams of runs.', probes.openStreams),
      new Reading('gauge', 'runwire_full_streams', 'Open streams whose reader is slow.', probes.fullStreams),
      new Reading('gauge', 'runwire_writer_queue', 'Transactions that wait for the writer.', probes.writerQueue),
      new Reading(
        'gauge',
        'runwire_unstored_bytes',
        'Bytes of model output of all runs that are not stored yet.',
        probes.unstoredBytes,
      ),
      new Reading(
        'gauge',
        'runwire_attachments_held_bytes',
        'Bytes reserved for attachments that are being fetched or read.',
        probes.attachmentsBytes,
      ),
      new Reading(
        'gauge',
        'runwire_start_sync_seconds',
        'Median time of a disk sync, measured at start.',
        () => probes.syncMs / 1000,
      ),
      new Reading(
        'gauge',
        'runwire_beat_age_seconds',
        'Time since the last heartbeat of this node began.',
        () => probes.beatAgeMs() / 1000,
      ),
      new LabelledReading(
        'runwire_mcp_connected',
        '1 if this node is connected to the MCP server of the agency, otherwise 0.',
        () =>
          probes.mcpServers().map(({ agency, server, state }) => ({
            labels: { agency, server },
            value: state === 'connected' ? 1 : 0,
          })),
      ),
      this.attachments,
      this.attachmentBytes,
      this.attachmentFetch,
      this.runsTakenOver,
      this.nodesFenced,
      this.agencyFaults,
      this.#firstToken,
      this.#callDuration,
      this.#firstChunk,
      this.#callTokens,
      this.#eventLag,
      this.commit,
      this.sync,
      this.webhookDeliveries,
      this.webhooksDisabled,
      new Reading(
        'gauge',
        'runwire_webhook_oldest_due_seconds',
        'How long the webhook delivery that is due first has waited for a node that posts it.',
        () => probes.webhookDueMs() / 1000,
      ),
      this.scheduleTicks,
      this.conflicts,
      this.eventLoopDelay,
      ...this.#process,
    ]);
  }
}
