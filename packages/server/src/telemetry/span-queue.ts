import type { ReadableSpan, Span, SpanExporter, SpanProcessor } from '@opentelemetry/sdk-trace';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace';
import type { Logger } from './logger.ts';

/** Spans that wait for their export, or are being exported. About 4 MB without contents. */
const MAX_SPANS = 4096;
/** Their texts' characters. With `RUNWIRE_TRACE_CONTENT` one span can have a megabyte. */
const MAX_CHARACTERS = 16 * 1024 * 1024;
const BATCH_SPANS = 512;
const BATCH_MS = 1000;
/** The log has at most one line in this time about spans that are dropped. */
const LOG_MS = 60_000;

/** Exports spans in batches. It is bounded: a slow or absent receiver costs spans, never a run. */
export class SpanQueue implements SpanProcessor {
  readonly #batches: BatchSpanProcessor;
  readonly #logger: Logger;
  #waiting = 0;
  #characters = 0;
  #loggedAt = Number.NEGATIVE_INFINITY;
  dropped = 0;

  constructor(exporter: SpanExporter, logger: Logger) {
    this.#logger = logger;
    this.#batches = new BatchSpanProcessor({
      exporter: this.#counted(exporter),
      maxQueueSize: MAX_SPANS,
      maxExportBatchSize: BATCH_SPANS,
      scheduledDelayMillis: BATCH_MS,
    });
  }

  onStart(): void {}

  onEnd(span: ReadableSpan & Span): void {
    if ((span.spanContext().traceFlags & 1) === 0) return;
    const characters = countCharacters(span);
    if (this.#waiting >= MAX_SPANS || this.#characters + characters > MAX_CHARACTERS) {
      this.#drop(1, 'the queue is full');
      return;
    }
    this.#waiting += 1;
    this.#characters += characters;
    this.#batches.onEnd(span);
  }

  forceFlush(): Promise<void> {
    return this.#batches.forceFlush();
  }

  shutdown(): Promise<void> {
    return this.#batches.shutdown();
  }

  #counted(exporter: SpanExporter): SpanExporter {
    return {
      export: (spans, onResult) =>
        exporter.export(spans, (result) => {
          this.#waiting -= spans.length;
          for (const span of spans) this.#characters -= countCharacters(span);
          if (result.error !== undefined) this.#drop(spans.length, result.error.message);
          onResult(result);
        }),
      shutdown: () => exporter.shutdown(),
    };
  }

  #drop(spans: number, reason: string): void {
    this.dropped += spans;
    if (performance.now() - this.#loggedAt < LOG_MS) return;
    this.#loggedAt = performance.now();
    this.#logger.warn(
      { dropped: this.dropped, reason },
      'spans could not be exported; check OTEL_EXPORTER_OTLP_ENDPOINT',
    );
  }
}

function countCharacters({ attributes }: ReadableSpan): number {
  let characters = 0;
  for (const value of Object.values(attributes)) if (typeof value === 'string') characters += value.length;
  return characters;
}
