import { setImmediate as nextTurn } from 'node:timers/promises';
import { WakeableLoop } from '@runwire/lib/wakeable-loop.ts';
import type { ScheduleId } from '../domain/ids.ts';
import {
  type ClaimedSchedule,
  claimedSchedule,
  claimSchedule,
  dueSchedules,
  nextDue,
} from '../store/queries/schedule-ticks.ts';
import { first } from '../store/store.ts';
import type { ThisNode } from '../store/this-node.ts';
import { type WorkDeps, workOnSchedule } from './work-on-schedule.ts';

/** Schedules that a node works on concurrently. */
const BATCH = 16;
/** Due schedules that one query finds. It reads all due ones, so that owners take turns: 10 000 take 20 ms. */
const FOUND = 512;

export interface ScheduleLoopDeps extends Omit<WorkDeps, 'nodeId'> {
  readonly node: ThisNode;
  /** False if there are no schedules. Answered from memory. */
  readonly hasSchedules: () => Promise<boolean>;
  readonly isDraining: () => boolean;
  /** The longest time between two looks: other nodes create schedules too. */
  readonly periodMs: number;
}

/** Claims due schedules and starts their runs, on every node. */
export class ScheduleLoop implements AsyncDisposable {
  readonly #deps: ScheduleLoopDeps;
  readonly #loop: WakeableLoop;
  #alarm: NodeJS.Timeout | null = null;
  /** Due schedules, in their order. Another node may have claimed some of them since they were found. */
  #found: ScheduleId[] = [];
  #looking: Promise<void> = Promise.resolve();

  constructor(deps: ScheduleLoopDeps) {
    this.#deps = deps;
    this.#loop = new WakeableLoop(
      deps.periodMs,
      () => this.look(),
      (error) => deps.logger.warn({ err: error }, 'schedules could not be read or recorded; trying again'),
    );
  }

  start(): void {
    this.#loop.start();
    this.#loop.wake();
  }

  wake(): void {
    this.#loop.wake();
  }

  /** Works on everything that is due. Two calls run one after the other. */
  look(): Promise<void> {
    const look = this.#looking.then(() => this.#look());
    this.#looking = look.catch(() => {});
    return look;
  }

  async #look(): Promise<void> {
    const { store, node, now, hasSchedules, isDraining } = this.#deps;
    this.#found = [];
    if (!(await hasSchedules())) return;
    while (!this.#loop.isClosed && !isDraining() && node.identity !== null) {
      const { nodeId } = node;
      const due = await first(store.reads.all(nextDue, { nodeId }));
      if (due?.due_at === undefined || due.due_at === null) return;
      const waitMs = due.due_at - now();
      if (waitMs > 0) {
        this.#wakeIn(waitMs);
        return;
      }
      const isFresh = this.#found.length === 0;
      const claimed = await this.#claim(nodeId);
      if (claimed.length === 0) {
        if (isFresh) return;
        continue;
      }
      const worked = await Promise.allSettled(claimed.map((row) => workOnSchedule({ ...this.#deps, nodeId }, row)));
      const failed = worked.find((result) => result.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
      await nextTurn();
    }
  }

  async #claim(nodeId: string): Promise<ClaimedSchedule[]> {
    const { store, now } = this.#deps;
    const at = now();
    if (this.#found.length === 0) {
      const due = await store.reads.all(dueSchedules, { now: at, nodeId, limit: FOUND });
      this.#found = due.map((row) => row.schedule_id);
    }
    const next = this.#found.splice(0, BATCH);
    if (next.length === 0) return [];
    const claimed = await store.transact('schedule', async (tx) => {
      const claimed: ClaimedSchedule[] = [];
      // In the order of their ids, so that two nodes never wait for each other in both directions.
      for (const scheduleId of next.toSorted()) {
        if ((await tx.run(claimSchedule, { scheduleId, nodeId, now: at })) === 0) continue;
        const row = await first(tx.all(claimedSchedule, { scheduleId }));
        if (row !== undefined) claimed.push(row);
      }
      return claimed;
    });
    // Another node works on the same ones.
    if (claimed.length < next.length) this.#found = [];
    return claimed;
  }

  /** Later ticks are found by the period. */
  #wakeIn(ms: number): void {
    if (this.#alarm !== null) clearTimeout(this.#alarm);
    this.#alarm = null;
    if (ms >= this.#deps.periodMs || this.#loop.isClosed) return;
    this.#alarm = setTimeout(() => this.#loop.wake(), ms);
    this.#alarm.unref();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#loop[Symbol.asyncDispose]();
    if (this.#alarm !== null) clearTimeout(this.#alarm);
    await this.#looking;
  }
}
