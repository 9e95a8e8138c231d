import { getCredits, type ModelPrice } from '../model/prices.ts';
import { estimateTokens, type ModelUsage, totalTokens, type Usage } from '../model/usage.ts';
import type { RunEndStatus } from '../run/run-state.ts';

export type AllowanceUnit = 'runs' | 'tokens' | 'credits';
export type AllowancePeriod = 'day' | 'week' | 'month' | 'lifetime';

export interface AllowanceSetting {
  readonly unit: AllowanceUnit;
  readonly limit: number;
  readonly period: AllowancePeriod;
}

const DAY_MS = 86_400_000;

/** Returns the number of days since 1970-01-01 in UTC. Usage is summed up by this day. */
export function toDay(ms: number): number {
  return Math.floor(ms / DAY_MS);
}

/**
 * Periods begin at 00:00 UTC, weeks on Monday (`contract-6-periods`). Day 0 was a Thursday. A lifetime began before
 * every day.
 */
export function periodFirstDay(period: AllowancePeriod, nowMs: number): number {
  const day = toDay(nowMs);
  switch (period) {
    case 'day':
      return day;
    case 'week':
      return day - ((day + 3) % 7);
    case 'month': {
      const now = new Date(nowMs);
      return toDay(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1));
    }
    case 'lifetime':
      return 0;
  }
}

export function periodStartMs(period: AllowancePeriod, nowMs: number): number | null {
  return period === 'lifetime' ? null : periodFirstDay(period, nowMs) * DAY_MS;
}

export function periodEndMs(period: AllowancePeriod, nowMs: number): number | null {
  switch (period) {
    case 'day':
      return (toDay(nowMs) + 1) * DAY_MS;
    case 'week':
      return (periodFirstDay('week', nowMs) + 7) * DAY_MS;
    case 'month': {
      const now = new Date(nowMs);
      return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1);
    }
    case 'lifetime':
      return null;
  }
}

export interface Reservation {
  readonly unit: AllowanceUnit;
  /** UTF-8 bytes of `message` and of the chat's earlier texts. */
  readonly textBytes: number;
  /** `RUNWIRE_RESERVE_TOKENS`: for the instructions and the answer, whose lengths are not known yet. */
  readonly reserveTokens: number;
  /** The price of the entry agent's model; null if it has none. */
  readonly price: ModelPrice | null;
}

/** What admission reserves (`contract-6-reserve`), so that concurrent requests cannot exceed a limit many times over. */
export function reservedAmount({ unit, textBytes, reserveTokens, price }: Reservation): number {
  if (unit === 'runs') return 1;
  const tokens = Math.max(1, estimateTokens(textBytes)) + reserveTokens;
  if (unit === 'tokens') return tokens;
  // The start and PATCH refuse such an integration, so this is a bug. No run is better than an unmetered one.
  if (price === null) throw new Error("The entry agent's model has no price in credits.");
  return getCredits(price, { inputTokens: tokens, cachedTokens: 0, outputTokens: 0 });
}

/** The maximum of a limit and of an adjustment. It is far below the largest integer that a number holds exactly. */
export const MAX_AMOUNT = 1e15;

/**
 * Returns what a member has used, from the sum of its days. The sum can be below 0 if the period was made shorter after an
 * adjustment gave back what earlier days used. Credits have at most six decimals, and adding them up can add more.
 */
export function usedAmount(sum: number): number {
  return Math.max(0, Number(sum.toFixed(6)));
}

/** Returns the part of an adjustment that is applied: at most what was used is given back (`contract-6-adjustment-applied`). */
export function appliedAmount(amount: number, used: number): number {
  return Math.min(amount, used);
}

/** A run's cost in each unit. */
export interface Charge {
  readonly runs: number;
  readonly tokens: number;
  readonly credits: number;
}

/** Also of a rerun. */
export const NO_CHARGE: Charge = { runs: 0, tokens: 0, credits: 0 };

const FREE_ENDS: ReadonlySet<string> = new Set([
  'internal_error',
  'run_interrupted',
  'attachment_unavailable',
  'agency_error',
]);

export interface ChargedEnd {
  readonly status: RunEndStatus;
  readonly errorCode: string | null;
  /** True if a model accepted a call, in the attempt that ends the run or in a journalled step. */
  readonly accepted: boolean;
}

/** A run is free if the server or an attachment failed it, or if it ended early and no model accepted a call. */
export function chargeFor(end: ChargedEnd, usage: Usage, byModel: readonly ModelUsage[]): Charge {
  const isFree = end.errorCode !== null && FREE_ENDS.has(end.errorCode);
  if (isFree || (end.status !== 'completed' && !end.accepted)) return NO_CHARGE;
  return { runs: 1, tokens: totalTokens(usage), credits: byModel.reduce((sum, { credits }) => sum + credits, 0) };
}

export interface AllowanceState extends AllowanceSetting {
  readonly used: number;
  readonly reserved: number;
}

/** The allowance in the form that callers read. */
export function allowanceJson(state: AllowanceState, nowMs: number) {
  const start = periodStartMs(state.period, nowMs);
  const end = periodEndMs(state.period, nowMs);
  const remaining = Math.max(0, state.limit - state.used - state.reserved);
  return {
    unit: state.unit,
    limit: state.limit,
    used: state.used,
    reserved: state.reserved,
    remaining,
    period: state.period,
    periodStart: start === null ? null : new Date(start).toISOString(),
    resetAt: end === null ? null : new Date(end).toISOString(),
    exhausted: remaining === 0,
  };
}
