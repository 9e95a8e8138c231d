import { operations } from '@runwire/contract/schemas';
import type { FastifyInstance } from 'fastify';
import type { IntegrationOwnership } from '../../accounts/owned-integration.ts';
import type { Scope } from '../../domain/scope.ts';
import { type CancelDeps, cancelRun } from '../../runs/cancel-run.ts';
import type { RunReads } from '../../runs/read-runs.ts';
import type { runSteps, StepQuery } from '../../runs/run-steps.ts';
import { ownersQuery, route } from '../route.ts';

export interface RunRoutesDeps {
  readonly ownership: IntegrationOwnership;
  readonly runReads: RunReads;
  readonly cancel: CancelDeps;
  readonly steps: (scope: Scope, runId: string, query: StepQuery) => ReturnType<typeof runSteps>;
}

export function runRoutes(app: FastifyInstance, deps: RunRoutesDeps): void {
  const { ownership, runReads, cancel, steps } = deps;

  route(app, operations.getChatStatus, async (request) => {
    const { apiIntegrationId } = request.params;
    const scope = await ownership.scope(request, apiIntegrationId);
    return runReads.chatStatus(scope, request.query);
  });

  route(app, operations.listRuns, async (request) => {
    const { apiIntegrationId } = request.params;
    await ownership.check(request.principal, apiIntegrationId);
    return runReads.list(apiIntegrationId, ownersQuery(request));
  });

  route(app, operations.getRun, async (request) => {
    const { apiIntegrationId, runId } = request.params;
    const scope = await ownership.scope(request, apiIntegrationId);
    return runReads.get(scope, runId);
  });

  route(app, operations.listRunSteps, async (request) => {
    const { apiIntegrationId, runId } = request.params;
    const scope = await ownership.scope(request, apiIntegrationId);
    return steps(scope, runId, ownersQuery(request));
  });

  route(app, operations.cancelRun, async (request, reply) => {
    const { apiIntegrationId, runId } = request.params;
    const scope = await ownership.scope(request, apiIntegrationId);
    const result = await cancelRun(cancel, scope, runId, request.body.mode ?? 'immediate');
    return reply.code(result.status === 'cancelling' ? 202 : 200).send(result);
  });
}
