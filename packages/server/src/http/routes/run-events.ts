import { headerNames } from '@runwire/contract';
import { operations } from '@runwire/contract/schemas';
import type { FastifyInstance } from 'fastify';
import type { Scope } from '../../domain/account/scope.ts';
import { Refusal } from '../../domain/refusal.ts';
import { isFinished } from '../../domain/run/run-state.ts';
import type { EventLog } from '../../eventlog/event-log.ts';
import type { RunReads } from '../../runs/read-runs.ts';
import { corsHeaders } from '../cors.ts';
import type { Encoder } from '../encoders/encoder.ts';
import { givenCursor, parseEventId } from '../event-cursor.ts';
import { route } from '../route.ts';
import { RunStream, type Streams } from '../run-stream.ts';
import type { StreamLimits } from '../stream-limits.ts';
import { streamSource } from '../stream-source.ts';

export interface RunEventsDeps {
  readonly runReads: RunReads;
  readonly eventLog: EventLog;
  readonly streams: Streams;
  readonly streamLimits: StreamLimits;
  readonly encoder: Encoder;
}

/** Follows the run from a cursor; a first read and a reconnect work alike. */
export function runEvents(app: FastifyInstance, deps: RunEventsDeps): void {
  /** The row has the whole answer, and many readers can arrive in one turn of the event loop. */
  const readRun = async (ownerId: string, scope: Scope, runId: string) => {
    using _turn = await deps.streams.turns.take(ownerId);
    return await deps.runReads.row(scope, runId);
  };

  route(app, operations.getRunEvents, async (request, reply, scope) => {
    const after = parseEventId(
      givenCursor(request.headers['last-event-id']) ?? givenCursor(request.query.after) ?? '0',
    );
    if (after === null) {
      throw new Refusal('invalid_cursor', '`Last-Event-ID` or `after` must be an event id: an integer of at least 0.');
    }
    const run = await readRun(request.principal.ownerId, scope, request.params.runId);
    if (run.chat_deleted_at !== null) throw new Refusal('chat_not_found', 'The chat of this run was deleted.');
    if (isFinished(run.status) && after >= (run.last_event_id ?? 0)) return reply.code(204).send();
    if (run.compacted_at !== null && after > 0) throw new Refusal('cursor_too_old');
    deps.streamLimits.add(request, reply.raw);
    app.noteAnswer(request, 200);
    reply.hijack();
    const runId = run.run_id;
    const source = streamSource(request, runId, after);
    const stream = new RunStream(reply.raw, deps.encoder, deps.streams, deps.eventLog, source);
    stream.start({
      ...corsHeaders(request.clientToken, request),
      [headerNames.requestId]: request.id,
      [headerNames.runId]: runId,
    });
    return reply;
  });
}
