import { operations } from '@runwire/contract/schemas';
import type { FastifyInstance } from 'fastify';
import type { Scope } from '../../domain/account/scope.ts';
import { type CancelDeps, cancelRun } from '../../runs/cancel-run.ts';
import type { RunReads } from '../../runs/read-runs.ts';
import type { runSteps, StepQuery } from '../../runs/run-steps.ts';
import { ownersQuery, route } from '../route.ts';

export interface RunRoutesDeps {
  readonly runReads: RunReads;
  readonly cancel: CancelDeps;
  readonly steps: (scope: Scope, runId: string, query: StepQuery) => ReturnType<typeof runSteps>;
  readonly prompt: (scope: Scope, runId: string, step: number) => Promise<object>;
}

export function runRoutes(app: FastifyInstance, deps: RunRoutesDeps): void {
  const { runReads, cancel, steps, prompt } = deps;

  route(app, operations.getChatStatus, async (request, _reply, scope) => runReads.chatStatus(scope, request.query));

  route(app, operations.listRuns, async (request, _reply, { integrationId }) =>
    runReads.list(integrationId, ownersQuery(request)),
  );

  route(app, operations.getRun, async (request, _reply, scope) => {
    const { runId } = request.params;
    return runReads.get(scope, runId);
  });

  route(app, operations.listRunSteps, async (request, _reply, scope) => {
    const { runId } = request.params;
    return steps(scope, runId, ownersQuery(request));
  });

  route(app, operations.getStepPrompt, async (request, _reply, scope) => {
    const { runId, step } = request.params;
    return prompt(scope, runId, step);
  });

  route(app, operations.cancelRun, async (request, reply, scope) => {
    const { runId } = request.params;
    const result = await cancelRun(cancel, scope, runId, request.body.mode ?? 'immediate');
    return reply.code(result.status === 'cancelling' ? 202 : 200).send(result);
  });
}
