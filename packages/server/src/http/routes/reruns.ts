import { operations } from '@runwire/contract/schemas';
import { isBlank } from '@runwire/lib/is-blank.ts';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { CompletionRequest } from '../../admission/completion-request.ts';
import type { GivenRerun } from '../../admission/rerun-request.ts';
import type { Scope } from '../../domain/account/scope.ts';
import { fingerprint } from '../../domain/admission/fingerprint.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { RunReads } from '../../runs/read-runs.ts';
import type { CompletionLimits } from '../body/read-completion.ts';
import type { Encoder } from '../encoders/encoder.ts';
import { TextOnly } from '../encoders/text-only.ts';
import { toTrace } from '../request-id.ts';
import { type RequestOf, route } from '../route.ts';
import type { RunStarts, StartedRun } from '../run-starts.ts';
import { replayCursor } from './get-completion.ts';

export interface RerunRoutesDeps {
  readonly starts: RunStarts;
  readonly runReads: RunReads;
  readonly encoder: Encoder;
  readonly limits: CompletionLimits;
  /** Throws `run_not_found`. */
  readonly readRerun: (given: GivenRerun) => Promise<CompletionRequest>;
  readonly compare: (scope: Scope, runIds: readonly [string, string]) => Promise<object>;
}

type Request = RequestOf<typeof operations.rerunRun>;

/** Streams an admitted run to the request that started it. */
export async function followStarted(
  { starts, runReads, encoder }: Pick<RerunRoutesDeps, 'starts' | 'runReads' | 'encoder'>,
  request: Parameters<RunStarts['follow']>[0],
  reply: FastifyReply,
  scope: Scope,
  started: StartedRun,
): Promise<void> {
  const { runId, replayed, textOnly } = started.admission;
  const resumes = replayed && !textOnly;
  const after = resumes ? await replayCursor({ runReads }, scope, runId, request.headers['last-event-id']) : 0;
  starts.follow(request, reply, started, textOnly ? new TextOnly() : encoder, after);
}

/** Runs a run again, and compares runs. */
export function rerunRoutes(app: FastifyInstance, deps: RerunRoutesDeps): void {
  const { starts, limits, readRerun, compare } = deps;

  const rerun = async (request: Request, { integrationId }: Scope) => {
    const { body, params, principal } = request;
    const { runId } = params;
    // Blank counts as missing.
    const usageRequestId = isBlank(body.usageRequestId ?? '') ? null : (body.usageRequestId ?? null);
    const userContext = body.user_context ?? undefined;
    if (Buffer.byteLength(JSON.stringify(userContext ?? null)) > limits.userContextBytes) {
      throw new Refusal(
        'invalid_request',
        `\`user_context\` must be at most ${limits.userContextBytes} bytes of JSON.`,
      );
    }
    return readRerun({
      ownerId: principal.ownerId,
      integrationId,
      runId,
      body,
      userContext,
      usageRequestId,
      // A rerun and a completion are never the same request.
      fingerprint: usageRequestId === null ? null : fingerprint({ ...body, rerunOf: runId }),
      trace: toTrace(request),
    });
  };

  const start = async (request: Request, reply: FastifyReply, scope: Scope) => {
    const started = await starts.admit(request, reply, await rerun(request, scope));
    await followStarted(deps, request, reply, scope, started);
  };
  route(app, operations.rerunRun, start, { startsRuns: true });

  route(app, operations.compareRuns, async (request, _reply, scope) =>
    compare(scope, [request.params.runId, request.query.with]),
  );
}
