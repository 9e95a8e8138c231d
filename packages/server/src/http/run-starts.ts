import { headerNames } from '@runwire/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Admission, RunAdmission } from '../admission/admit-run.ts';
import type { CompletionRequest } from '../admission/completion-request.ts';
import { Refusal } from '../domain/refusal.ts';
import { isScheduleRequestId } from '../domain/schedule/tick-request.ts';
import type { EventLog } from '../eventlog/event-log.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { corsHeaders } from './cors.ts';
import type { Encoder } from './encoders/encoder.ts';
import { RunStream, type Streams } from './run-stream.ts';
import type { StreamLimits } from './stream-limits.ts';
import { streamSource } from './stream-source.ts';

export interface RunStartDeps {
  readonly admission: RunAdmission;
  readonly eventLog: EventLog;
  readonly streams: Streams;
  readonly streamLimits: StreamLimits;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/** An admission, and the headers with which its answer begins. */
export interface StartedRun {
  readonly admission: Admission;
  readonly headers: Record<string, string>;
}

type Request = Pick<
  FastifyRequest,
  'id' | 'headers' | 'method' | 'routeOptions' | 'receivedAt' | 'server' | 'principal' | 'clientToken' | 'inlineFiles'
>;

/** Starts runs for requests, in every framing: admit, then follow from the start. */
export class RunStarts {
  readonly #deps: RunStartDeps;

  constructor(deps: RunStartDeps) {
    this.#deps = deps;
  }

  /** Throws a `Refusal`; then this request has reserved nothing. `admit` replaces the one try of the admission. */
  async admit(
    request: Request,
    reply: FastifyReply,
    completion: CompletionRequest,
    admit: (admissions: RunAdmission) => Promise<Admission> = (admissions) => admissions.admit(completion),
  ): Promise<StartedRun> {
    const { admission: admissions, streamLimits } = this.#deps;
    refuseScheduleId(completion);
    // Before the transaction, so that nothing is reserved for a stream that is refused. A replay is a stream too.
    streamLimits.add(request, reply.raw);
    const admission = this.#counted(await admit(admissions));
    // "After admission nothing keeps the body alive": the framework holds on to the request as long as its stream.
    request.inlineFiles?.release();
    (request as { body?: unknown }).body = null;
    const headers: Record<string, string> = {
      ...corsHeaders(request.clientToken, request),
      [headerNames.requestId]: request.id,
      [headerNames.agentRunAdmitted]: 'true',
      [headerNames.runId]: admission.runId,
      [headerNames.chatId]: encodeURIComponent(admission.chatId),
    };
    if (admission.replayed) headers[headerNames.runReplayed] = 'true';
    return { admission, headers };
  }

  /** Starts a run for a request whose answer is not the run's stream. Throws a `Refusal`; then nothing is reserved. */
  async admitUnread(completion: CompletionRequest): Promise<Admission> {
    refuseScheduleId(completion);
    return this.#counted(await this.#deps.admission.admit(completion));
  }

  #counted(admission: Admission): Admission {
    this.#deps.metrics.admissions.add({ outcome: admission.replayed ? 'replayed' : 'admitted' });
    return admission;
  }

  /** The run is reserved, and its stream cannot begin. The answer has the headers and no end, so the caller asks for the run. */
  breakOff(request: Request, reply: FastifyReply, { headers, admission }: StartedRun, cause: unknown): void {
    this.#deps.logger.error({ err: cause, runId: admission.runId }, 'the answer of an admitted run could not begin');
    request.server.noteAnswer(request, 200);
    reply.hijack();
    reply.raw.writeHead(200, headers);
    reply.raw.flushHeaders();
    reply.raw.destroy();
  }

  /** The run is reserved: no error status may be sent any more, the stream reports what happens. */
  follow(request: Request, reply: FastifyReply, { admission, headers }: StartedRun, encoder: Encoder, after = 0): void {
    const { streams, eventLog } = this.#deps;
    request.server.noteAnswer(request, 200);
    const source = streamSource(request, admission.runId, after);
    reply.hijack();
    new RunStream(reply.raw, encoder, streams, eventLog, source).start(headers);
  }
}

function refuseScheduleId({ usageRequestId }: CompletionRequest): void {
  if (!isScheduleRequestId(usageRequestId)) return;
  const sentence = '`usageRequestId` must not begin with `schedule:`: these ids belong to the runs of schedules.';
  throw new Refusal('invalid_request', sentence);
}
