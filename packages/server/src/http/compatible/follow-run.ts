import { headerNames } from '@runwire/contract';
import type { RunId } from '../../domain/ids.ts';
import { corsHeaders } from '../cors.ts';
import type { Encoder } from '../encoders/encoder.ts';
import { RunStream } from '../run-stream.ts';
import { streamSource } from '../stream-source.ts';
import type { CompatibleDeps } from './compatible-deps.ts';
import type { CompatibleCall } from './compatible-route.ts';

/** Streams the events of a run that exists, from the first one on. */
export function followRun(
  { eventLog, streams, streamLimits }: Pick<CompatibleDeps, 'eventLog' | 'streams' | 'streamLimits'>,
  { request, reply }: Pick<CompatibleCall, 'request' | 'reply'>,
  runId: RunId,
  encoder: Encoder,
): void {
  streamLimits.add(request, reply.raw);
  request.server.noteAnswer(request, 200);
  reply.hijack();
  const source = streamSource(request, runId, 0);
  new RunStream(reply.raw, encoder, streams, eventLog, source).start({
    ...corsHeaders(request.clientToken, request),
    [headerNames.requestId]: request.id,
    [headerNames.runId]: runId,
  });
}
