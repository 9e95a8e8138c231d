import { operations } from '@runwire/contract/schemas';
import type { FetchAllow } from '@runwire/guarded-fetch/url-rules';
import { isBlank } from '@runwire/lib/is-blank.ts';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { CompletionRequest } from '../../admission/completion-request.ts';
import type { EvalRun } from '../../admission/eval-request.ts';
import type { Scope } from '../../domain/account/scope.ts';
import { fingerprint } from '../../domain/admission/fingerprint.ts';
import type { GivenOutcome } from '../../domain/run/rerun.ts';
import type { RunReads } from '../../runs/read-runs.ts';
import { type CompletionLimits, readCompletion } from '../body/read-completion.ts';
import type { Encoder } from '../encoders/encoder.ts';
import { toTrace } from '../request-id.ts';
import { type RequestOf, route } from '../route.ts';
import type { RunStarts } from '../run-starts.ts';
import { followStarted } from './reruns.ts';

export interface EvalRoutesDeps {
  readonly starts: RunStarts;
  readonly runReads: RunReads;
  readonly encoder: Encoder;
  readonly limits: CompletionLimits;
  readonly fetchAllow: FetchAllow;
  readonly readEval: (request: CompletionRequest, run: EvalRun) => Promise<CompletionRequest>;
}

type Request = RequestOf<typeof operations.runEval>;

/** Starts runs for evals. */
export function evalRoutes(app: FastifyInstance, deps: EvalRoutesDeps): void {
  const { starts, limits, fetchAllow, readEval } = deps;

  const start = async (request: Request, reply: FastifyReply, scope: Scope) => {
    const completion = { ...toCompletion(request, limits, fetchAllow), integrationId: scope.integrationId };
    const started = await starts.admit(request, reply, await readEval(completion, toEvalRun(request)));
    await followStarted(deps, request, reply, scope, started);
  };
  route(app, operations.runEval, start, { startsRuns: true });
}

function toCompletion(request: Request, limits: CompletionLimits, fetchAllow: FetchAllow) {
  const { body, principal, inlineFiles: images } = request;
  const { message, agent, history, user_context } = body.request;
  // Blank counts as missing.
  const usageRequestId = isBlank(body.usageRequestId ?? '') ? null : (body.usageRequestId ?? null);
  const given = readCompletion(
    {
      body: {
        apiIntegrationId: '',
        message,
        ...(agent == null ? {} : { agent }),
        ...(history === undefined ? {} : { history }),
        ...(user_context === undefined ? {} : { user_context }),
      },
      ...{ ownerId: principal.ownerId, clientToken: null, answeredBy: null, images },
      trace: toTrace(request),
    },
    limits,
    fetchAllow,
  );
  // An eval and a completion are never the same request.
  const compared = usageRequestId === null ? null : fingerprint({ ...body, eval: true });
  return { ...given, usageRequestId, fingerprint: compared };
}

function toEvalRun({ body: { request, tools = {}, recorded = [] } }: Request): EvalRun {
  const outcomes = Object.entries(tools).map(([name, { output, failed }]): [string, GivenOutcome] => [
    name,
    { text: typeof output === 'string' ? output : JSON.stringify(output ?? null), failed: failed === true },
  ]);
  const calls = recorded.map(({ agent, callerAgent, tool, arguments: text, output, failed }) => ({
    ...{ agent, callerAgent: callerAgent ?? null, name: tool, text },
    outcome: { text: output, failed: failed === true },
  }));
  return {
    agency: request.agency ?? null,
    model: request.model ?? null,
    instructions: request.instructions ?? null,
    outputSchema: request.outputSchema ?? null,
    settings: { tools: Object.fromEntries(outcomes), recorded: calls, alone: request.alone === true },
  };
}
