import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { type Contestant, load, startContestant, startProvider, withCounting } from './contestants.ts';
import type { Waste } from './counting.ts';
import { countPhase, readCounts } from './counts.ts';
import { type Phase, type PhaseResult, SCENARIOS } from './phases.ts';

/*
 * Counts what a run costs, cheaply enough for every check, and compares it with committed bounds. The server does not
 * compile its functions to optimized code, because allocation would depend on when it did. The provider sends an answer
 * in one write, because the number of writes would depend on the kernel. Other load only adds to a count (for example
 * events are stored while a run waits), so the least of several tries counts.
 */

export type GuardFigures = Readonly<Record<string, number>>;

/** How far a figure may be above its bound: more than other load and other machines add, less than what a test plants. */
const TOLERANCES: Readonly<Record<string, number>> = {
  'short: statements': 1.5,
  'short: kB allocated': 15,
  'single: statements': 1.5,
  'single: kB allocated': 15,
  'single: write calls': 3,
  'single: kB written': 8,
  // The server does other things too until the index has all words.
  'index: statements': 0.6,
  'index: kB allocated': 6,
};

const BOUND_TRIES = 4;
const one = { tokens: 20, burst: 20, everyMs: 0, seconds: 0 } as const;
const SHORT: Phase = { ...SCENARIOS.short, ...one, name: 'short', atOnce: 16, runs: 128 };
const SINGLE: Phase = { ...SCENARIOS.single, ...one, name: 'single', runs: 60 };

/** The loop of the index for searches, which would otherwise add few runs at a time: it looks after the runs of a measurement. */
const SEARCH_MS = 6000;
/** How often the guard looks whether the words of all runs are in the index. */
const LOOK_MS = 50;

export class Guard implements AsyncDisposable {
  readonly #contestant: Contestant;
  readonly #dataDir: string;
  readonly #stopProvider: () => void;
  /** The least figures of the last comparison. */
  least: GuardFigures = {};

  private constructor(contestant: Contestant, dataDir: string, stopProvider: () => void) {
    this.#contestant = contestant;
    this.#dataDir = dataDir;
    this.#stopProvider = stopProvider;
  }

  static async start(): Promise<Guard> {
    const provider = await startProvider();
    const dataDir = mkdtempSync(join(tmpdir(), 'runwire-guard-'));
    const kept = { dataDir, apiKey: null };
    const start = () => startContestant('ours', { members: 4, providerPort: provider.port, searchMs: SEARCH_MS, kept });
    const contestant = await withCounting(start, { isOptimized: false });
    await load(contestant, [
      { ...SHORT, runs: 200 },
      { ...SINGLE, runs: 20 },
    ]);
    return new Guard(contestant, dataDir, provider.stop);
  }

  /** From now on, every run wastes these. */
  plant(...wastes: readonly Waste[]): void {
    this.#contestant.process.send({ wastes });
  }

  async measure(): Promise<GuardFigures> {
    using database = new DatabaseSync(join(this.#dataDir, 'runwire.db'), { readOnly: true });
    const left = database.prepare(
      'select count(*) as runs from runs where run_id not in (select run_id from search_docs)',
    );
    const unindexed = () => Number(left.get()?.runs);
    const untilIndexed = async () => {
      while (unindexed() > 0) await pause(LOOK_MS);
    };
    await untilIndexed();
    const short = await countPhase(this.#contestant, SHORT);
    const single = await countPhase(this.#contestant, SINGLE);
    const [runs, before] = [unindexed(), await readCounts(this.#contestant)];
    await untilIndexed();
    const after = await readCounts(this.#contestant);
    const index = {
      'index: statements': (after.statements - before.statements) / runs,
      'index: kB allocated': (after.allocatedBytes - before.allocatedBytes) / runs / 1000,
    };
    return { ...toFigures(short), ...toFigures(single), ...index };
  }

  /** Returns the figures above their bounds as sentences, after the least of at most `tries` measurements. */
  async findExcess(bounds: GuardFigures, tries: number): Promise<readonly string[]> {
    let least = await this.measure();
    for (let i = 1; i < tries && excess(least, bounds).length > 0; i += 1) least = smaller(least, await this.measure());
    this.least = least;
    return excess(least, bounds);
  }

  /** Measures new bounds. */
  async measureBounds(): Promise<GuardFigures> {
    let least = await this.measure();
    for (let i = 1; i < BOUND_TRIES; i += 1) least = smaller(least, await this.measure());
    return Object.fromEntries(Object.entries(least).map(([label, value]) => [label, Number(value.toFixed(1))]));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#contestant[Symbol.asyncDispose]();
    this.#stopProvider();
    rmSync(this.#dataDir, { recursive: true, force: true });
  }
}

function toFigures({ name, statements, allocatedKb, writeCalls, writtenKb }: PhaseResult): GuardFigures {
  const figures: GuardFigures = {
    [`${name}: statements`]: statements,
    [`${name}: kB allocated`]: allocatedKb,
    [`${name}: write calls`]: writeCalls,
    [`${name}: kB written`]: writtenKb,
  };
  // The runs that end together share their commit, so the writes of concurrent runs depend on the time.
  return Object.fromEntries(Object.entries(figures).filter(([label]) => label in TOLERANCES));
}

function smaller(one: GuardFigures, other: GuardFigures): GuardFigures {
  return Object.fromEntries(
    Object.entries(one).map(([label, value]) => [label, Math.min(value, other[label] ?? value)]),
  );
}

function excess(figures: GuardFigures, bounds: GuardFigures): readonly string[] {
  return Object.entries(figures).flatMap(([label, value]) => {
    const bound = bounds[label] ?? 0;
    if (value <= bound + (TOLERANCES[label] ?? 0)) return [];
    return [`${label} a run: ${value.toFixed(2)}, the bound is ${bound} + ${TOLERANCES[label]}`];
  });
}
