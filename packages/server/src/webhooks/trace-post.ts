import { storedTraceparent } from '../domain/run/run-extras.ts';
import { runExtras } from '../store/queries/runs.ts';
import { first, type Store } from '../store/store.ts';
import { addressAttributes } from '../telemetry/run-trace.ts';
import type { TraceSpan, Tracing } from '../telemetry/tracing.ts';
import type { AttemptOutcome } from './post-event.ts';
import type { Post } from './record-attempts.ts';

/** Begins the span of a post. A run's posts are in the run's trace; any other post is a trace of its own. */
export async function tracePost(tracing: Tracing, store: Store, { endpoint, delivery }: Post): Promise<TraceSpan> {
  const { run_id: runId, type, attempts } = delivery;
  const extras = runId === null ? undefined : await first(store.reads.all(runExtras, { runId }));
  const stored = storedTraceparent(extras?.extras_json ?? null);
  const attributes = {
    ...addressAttributes(endpoint.url),
    'http.request.method': 'POST',
    'runwire.run.id': runId ?? undefined,
    'runwire.attempt': attempts + 1,
  };
  const parent = stored ?? (runId === null ? null : tracing.parentFor(runId));
  return tracing.start({ name: `webhook ${type}`, kind: 'client', attributes }, parent);
}

/** Ends the span. `outcome` is null if this server stopped before the answer. */
export function endTracedPost(span: TraceSpan, outcome: AttemptOutcome | null): void {
  span.set({ 'http.response.status_code': outcome?.status ?? undefined });
  span.end(outcome === null ? 'cancelled' : outcome.isDelivered ? null : 'webhook_failed');
}
