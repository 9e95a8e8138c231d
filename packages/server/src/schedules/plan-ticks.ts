import { type CatchUp, MAX_CAUGHT_UP, MISSED_AFTER_MS } from '../domain/schedule/catch-up.ts';
import { nextTick, type Timing, ticksBetween } from './tick-times.ts';

/** How long a tick is tried again if no other tick follows. */
const GIVE_UP_MS = 86_400_000;

export interface DueTick {
  readonly tickMs: number;
  readonly catchUp: CatchUp;
  /** True if the tick was answered with 503. */
  readonly isRetry: boolean;
}

export interface TickPlan {
  /** The tick that is tried no more, or null. */
  readonly givenUp: number | null;
  /** The ticks to run, oldest first. */
  readonly run: readonly number[];
  /** The first tick in the future, or null. */
  readonly next: number | null;
}

/** Decides which of the ticks that have passed run now. Pure. */
export function planTicks(timing: Timing, { tickMs, catchUp, isRetry }: DueTick, now: number): TickPlan {
  const passed = ticksBetween(timing, tickMs - 1, now, MAX_CAUGHT_UP);
  const latest = passed.at(-1) ?? tickMs;
  const isTriedAgain = isRetry && latest === tickMs && now - tickMs <= GIVE_UP_MS;
  const givenUp = isRetry && !isTriedAgain ? tickMs : null;
  const open = passed.filter((tick) => tick !== givenUp);
  const isOnTime = isTriedAgain || now - latest <= MISSED_AFTER_MS;
  const run = catchUp === 'all' ? open : catchUp === 'latest' || isOnTime ? open.slice(-1) : [];
  return { givenUp, run, next: nextTick(timing, Math.max(now, latest)) };
}
