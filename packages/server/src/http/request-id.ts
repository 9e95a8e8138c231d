import type { IncomingHttpHeaders } from 'node:http';
import type { RequestTrace } from '../domain/request-trace.ts';
import type { TraceSpan } from '../telemetry/tracing.ts';

const HEADER = 'x-request-id';
const VISIBLE_ASCII = /^[\x21-\x7e]{1,128}$/;
const TRACE_IDS = '(?!0{32})[\\da-f]{32}-(?!0{16})[\\da-f]{16}-[\\da-f]{2}';
/** W3C Trace Context: a version, then the ids of trace and parent, and flags. Versions after 00 may append more. */
const TRACEPARENT = new RegExp(`^(?:00-${TRACE_IDS}|(?!00|ff)[\\da-f]{2}-${TRACE_IDS}(?:-[\\x21-\\x7e]{0,200})?)$`);

/** Gives each request its id: the caller's own `X-Request-Id`, or a new one. */
export class RequestIds {
  readonly #prefix: string;
  #made = 0;

  /** `boot` differs with each start of a server, so that no id is made twice. */
  constructor(boot: string) {
    this.#prefix = `req_${boot}`;
  }

  of(headers: IncomingHttpHeaders): string {
    // Node joins the values of a repeated header with a space, which no id contains.
    const sent = headers[HEADER];
    return typeof sent === 'string' && VISIBLE_ASCII.test(sent) ? sent : this.make();
  }

  make(): string {
    const id = this.#prefix + this.#made.toString(36);
    this.#made += 1;
    return id;
  }
}

/** The fields by which a request's log lines, and of the run that it starts, are found. */
export function toTrace({ id, headers, span }: TracedRequest): RequestTrace {
  const traceparent = callersTraceparent(headers);
  if (span !== null) return { requestId: id, traceparent: traceparent ?? span.traceparent, trace_id: span.traceId };
  return traceparent === null ? { requestId: id } : { requestId: id, traceparent };
}

interface TracedRequest {
  readonly id: string;
  readonly headers: IncomingHttpHeaders;
  /** Null if traces are off. */
  readonly span: TraceSpan | null;
}

/** Null if the caller sent none, and if W3C Trace Context does not allow its value. */
export function callersTraceparent({ traceparent }: IncomingHttpHeaders): string | null {
  return typeof traceparent === 'string' && TRACEPARENT.test(traceparent) ? traceparent : null;
}
