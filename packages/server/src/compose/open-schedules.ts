import { scheduledCompletion } from '../http/body/scheduled-completion.ts';
import type { ReadRequest } from '../schedules/ports.ts';
import { ScheduleReads } from '../schedules/read-schedules.ts';
import { ScheduleLoop } from '../schedules/schedule-loop.ts';
import { TickSweep } from '../schedules/tick-sweep.ts';
import { anySchedule } from '../store/queries/schedules.ts';
import type { Foundation } from './foundation.ts';
import type { OpenedAccounts } from './open-accounts.ts';
import type { OpenedRuns } from './open-runs.ts';
import type { OpenedWebhooks } from './open-webhooks.ts';

/** Opens what starts runs by the clock. The loop and the sweep begin when they are started. */
export function openSchedules(
  foundation: Foundation,
  { changes, pages }: OpenedAccounts,
  { admission }: OpenedRuns,
  { outbox }: Pick<OpenedWebhooks, 'outbox'>,
) {
  const { store, config, limits, life, earlierNodes, now, logger, metrics, stack } = foundation;
  const readRequest: ReadRequest = (request, about) => scheduledCompletion(request, about, limits, config.fetchAllow);
  const admit = admission.admit.bind(admission);
  const known = changes.cache<boolean>(1);
  const loop = stack.use(
    new ScheduleLoop({
      store,
      reads: store.reads,
      admit,
      readRequest,
      node: life.node,
      hasSchedules: () => known.get('any', async () => (await store.reads.all(anySchedule, {})).length > 0),
      isDraining: () => life.isDraining,
      now,
      onPaused: (tx, { integration_id: integrationId, schedule_id: scheduleId }, pausedReason) =>
        outbox.record(tx, integrationId, ['schedule.paused'], () => [
          { type: 'schedule.paused', data: { scheduleId, pausedReason } },
        ]),
      onPauseStored: ({ integration_id: integrationId }) => outbox.committed(integrationId),
      periodMs: limits.schedulesMs,
      logger,
      metrics,
    }),
  );
  const sweep = stack.use(new TickSweep(store, limits, now, logger));
  const wake = () => loop.wake();
  const change = changes.change.bind(changes);
  return {
    loop,
    sweep,
    routes: {
      store,
      earlierNodes,
      change,
      readRequest,
      admit,
      now,
      wake,
      reads: new ScheduleReads(store.reads, pages),
    },
    start() {
      loop.start();
      sweep.start();
    },
  };
}

export type OpenedSchedules = ReturnType<typeof openSchedules>;
