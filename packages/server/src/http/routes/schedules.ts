import { operations } from '@runwire/contract/schemas';
import type { FastifyInstance } from 'fastify';
import { type CreateDeps, createSchedule } from '../../schedules/create-schedule.ts';
import { deleteScheduleById } from '../../schedules/delete-schedule.ts';
import type { ScheduleReads } from '../../schedules/read-schedules.ts';
import { type RunDeps, runSchedule } from '../../schedules/run-schedule.ts';
import { scheduleJson } from '../../schedules/schedule-row.ts';
import { type UpdateDeps, updateScheduleById } from '../../schedules/update-schedule.ts';
import { ownersQuery, route } from '../route.ts';

export interface ScheduleRoutesDeps extends CreateDeps, UpdateDeps, RunDeps {
  readonly reads: ScheduleReads;
}

const JSON_TYPE = 'application/json; charset=utf-8';

export function scheduleRoutes(app: FastifyInstance, deps: ScheduleRoutesDeps): void {
  const { reads, store } = deps;

  route(app, operations.createSchedule, async (request, reply, { integrationId }) => {
    const { principal, body } = request;
    const json = await createSchedule(deps, { ownerId: principal.ownerId, integrationId }, body, app.audit(request));
    return reply.code(201).type(JSON_TYPE).serializer(asIs).send(json);
  });

  route(app, operations.listSchedules, async (request, _reply, { integrationId }) =>
    reads.list(integrationId, ownersQuery(request)),
  );

  route(app, operations.getSchedule, async ({ params }, reply, { integrationId }) => {
    const json = scheduleJson(await reads.row(integrationId, params.scheduleId));
    return reply.type(JSON_TYPE).serializer(asIs).send(json);
  });

  route(app, operations.updateSchedule, async (request, reply, { integrationId }) => {
    const { principal, params, body } = request;
    const owner = { ownerId: principal.ownerId, integrationId };
    const json = await updateScheduleById(deps, owner, params.scheduleId, body, app.audit(request));
    return reply.type(JSON_TYPE).serializer(asIs).send(json);
  });

  route(app, operations.deleteSchedule, async (request, reply, { integrationId }) => {
    await deleteScheduleById(store, integrationId, request.params.scheduleId, app.audit(request));
    return reply.code(204).send();
  });

  route(app, operations.runSchedule, async ({ principal, params }, reply, { integrationId }) => {
    const row = await reads.row(integrationId, params.scheduleId);
    const run = await runSchedule(deps, { ownerId: principal.ownerId, integrationId }, row);
    return reply.code(202).send(run);
  });

  route(app, operations.listScheduleTicks, async ({ params, query }, _reply, { integrationId }) =>
    reads.ticks(integrationId, params.scheduleId, query),
  );
}

/** The answer is JSON text already. */
const asIs = (json: unknown) => json as string;
