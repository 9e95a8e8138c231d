import { createHash } from 'node:crypto';
import {
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  SamplingDecision,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Logger } from './logger.ts';
import { SpanQueue } from './span-queue.ts';
import { getTraceId, type NewSpan, type SpanAttributes, type TraceSpan, type Tracing } from './tracing.ts';

/** The release of the semantic conventions whose names are used. */
const SCHEMA_URL = 'https://opentelemetry.io/schemas/1.45.0';
/** How long a shutdown waits for the last export. */
const LAST_EXPORT_MS = 2000;

export interface TracingSettings {
  readonly url: string;
  /** As `OTEL_TRACES_SAMPLER` names it. */
  readonly sampler: string;
  /** The part of the traces that the ratio samplers keep. */
  readonly ratio: number;
  readonly hasContent: boolean;
}

function makeSampler({ sampler, ratio }: TracingSettings): Sampler {
  const root = sampler.endsWith('always_on')
    ? new AlwaysOnSampler()
    : sampler.endsWith('always_off')
      ? new AlwaysOffSampler()
      : new TraceIdRatioBasedSampler(ratio);
  return sampler.startsWith('parentbased') ? new ParentBasedSampler({ root }) : root;
}

/**
 * Opens tracing by OpenTelemetry. Only this file and `span-queue.ts` import its SDK, and they are loaded only if an endpoint is
 * set. The exporter itself reads the headers and the other `OTEL_EXPORTER_OTLP_*` variables.
 */
export function openTracing(settings: TracingSettings, version: string, logger: Logger): Tracing {
  const sampler = makeSampler(settings);
  const queue = new SpanQueue(new OTLPTraceExporter({ url: settings.url }), logger);
  const resource = defaultResource()
    .merge(resourceFromAttributes({ 'service.name': 'runwire', 'service.version': version }))
    .merge(detectResources({ detectors: [envDetector] }));
  const provider = new TracerProvider({ resource, sampler, spanProcessors: [queue] });
  return new OtelTracing(
    provider,
    sampler,
    queue,
    provider.getTracer('runwire', version, { schemaUrl: SCHEMA_URL }),
    settings,
  );
}

class OtelTracing implements Tracing {
  readonly #provider: TracerProvider;
  readonly #sampler: Sampler;
  readonly #queue: SpanQueue;
  readonly #tracer: Tracer;
  readonly hasContent: boolean;

  constructor(provider: TracerProvider, sampler: Sampler, queue: SpanQueue, tracer: Tracer, settings: TracingSettings) {
    this.#provider = provider;
    this.#sampler = sampler;
    this.#queue = queue;
    this.#tracer = tracer;
    this.hasContent = settings.hasContent;
  }

  get dropped(): number {
    return this.#queue.dropped;
  }

  start({ name, kind, attributes }: NewSpan, parent: string | null): TraceSpan {
    const context = parent === null ? ROOT_CONTEXT : toContext(parent);
    return new OtelSpan(this.#tracer.startSpan(name, { kind: KINDS[kind], attributes: defined(attributes) }, context));
  }

  parentFor(runId: string): string {
    const digest = createHash('sha256').update(runId).digest('hex');
    const traceId = digest.slice(0, 32);
    const { decision } = this.#sampler.shouldSample(ROOT_CONTEXT, traceId, 'invoke_agent', SpanKind.INTERNAL, {}, []);
    return `00-${traceId}-${digest.slice(32, 48)}-${decision === SamplingDecision.RECORD_AND_SAMPLED ? '01' : '00'}`;
  }

  /** Waits for the last export, but not for an exporter that does not answer. */
  async [Symbol.asyncDispose](): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, LAST_EXPORT_MS);
    await Promise.race([this.#provider.shutdown().catch(() => {}), promise]);
    clearTimeout(timer);
  }
}

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL } as const;

function toContext(traceparent: string): Context {
  const [, , spanId = '', flags = ''] = traceparent.split('-');
  const traceFlags = Number.parseInt(flags, 16) & 1;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId: getTraceId(traceparent), spanId, traceFlags, isRemote: true });
}

type AttributeValues = Record<string, string | number | boolean | string[]>;

const defined = (attributes: SpanAttributes): AttributeValues =>
  Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined)) as AttributeValues;

class OtelSpan implements TraceSpan {
  readonly #span: Span;
  #hasEnded = false;

  constructor(span: Span) {
    this.#span = span;
  }

  get traceId(): string {
    return this.#span.spanContext().traceId;
  }

  get traceparent(): string {
    const { traceId, spanId, traceFlags } = this.#span.spanContext();
    return `00-${traceId}-${spanId}-${(traceFlags & 1) === 1 ? '01' : '00'}`;
  }

  set(attributes: SpanAttributes): void {
    this.#span.setAttributes(defined(attributes));
  }

  event(name: string): void {
    this.#span.addEvent(name);
  }

  end(errorType: string | null = null): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    if (errorType !== null) {
      this.#span.setAttribute('error.type', errorType);
      this.#span.setStatus({ code: SpanStatusCode.ERROR });
    }
    this.#span.end();
  }
}
