/**
 * The port through which the server makes spans. `open-tracing.ts` implements it with OpenTelemetry. If tracing is off, there is no
 * `Tracing`, and each place that would make a span compares with null.
 */
export interface Tracing extends AsyncDisposable {
  /** True if texts, arguments, results and the ids of members may be attributes (`RUNWIRE_TRACE_CONTENT`). */
  readonly hasContent: boolean;
  /** Spans that were not exported: the queue was full, or the exporter failed. */
  readonly dropped: number;
  /** Begins a span. The parent is a `traceparent` of W3C Trace Context; null begins a trace. */
  start(span: NewSpan, parent: string | null): TraceSpan;
  /** Makes the parent for all spans if the run's request brought none. It is the same on every node. */
  parentFor(runId: string): string;
}

export interface NewSpan {
  readonly name: string;
  readonly kind: 'server' | 'client' | 'internal';
  readonly attributes: SpanAttributes;
}

/** An undefined attribute is left out. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | string[] | undefined>>;

export interface TraceSpan {
  readonly traceId: string;
  /** For its children and for other servers. */
  readonly traceparent: string;
  set(attributes: SpanAttributes): void;
  event(name: string): void;
  /** `errorType` is our code; null if nothing failed. */
  end(errorType?: string | null): void;
}

export const getTraceId = (traceparent: string): string => traceparent.slice(3, 35);
