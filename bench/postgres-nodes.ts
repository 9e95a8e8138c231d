import type { PostgresServer } from '@runwire/test-kit';
import { load, loadOne, startContestant } from './contestants.ts';
import { DatabaseMeter, type DatabaseWork, perRun } from './database-meter.ts';
import { type Phase, type PhaseResult, SCENARIOS } from './phases.ts';

/** Measures our server on PostgreSQL, in several processes on one database. */

export interface NodesOptions {
  readonly members: number;
  readonly providerPort: number;
  readonly seconds: number;
  readonly isQuick: boolean;
}

export interface PhaseMeasurement extends PhaseResult {
  /** Null for the embedded database, whose work is part of the server. */
  readonly database: DatabaseWork | null;
}

const { short, long, single } = SCENARIOS;

export function nodePhases({ seconds, isQuick }: NodesOptions, nodes = 1) {
  // The nodes share the load. With the same time for all of them, each of three nodes would have compiled less code after a
  // third of the runs: a node costs 25 % more after 800 runs than after 2 500.
  const warmUpSeconds = (isQuick ? 0.4 : 2) * nodes;
  const warmUps: readonly Phase[] = [
    { ...short, name: 'warm-up', seconds: warmUpSeconds },
    { ...long, name: 'warm-up', seconds: warmUpSeconds / 2 },
  ];
  const phases: readonly Phase[] = [
    { ...short, name: 'short', seconds },
    { ...long, name: 'long', seconds },
    { ...single, name: 'single', seconds: seconds / 2 },
  ];
  // Nodes have periodic work every second or two, and this time must include some of it.
  return { warmUps, phases, idleSeconds: isQuick ? 2 : 6 };
}

/** Measures fresh processes with a fresh database. `names` chooses the phases. */
export async function measureNodes(
  postgres: PostgresServer,
  nodes: number,
  options: NodesOptions,
  names: readonly string[] = ['short', 'long', 'single'],
): Promise<PhaseMeasurement[]> {
  const { warmUps, phases, idleSeconds } = nodePhases(options, nodes);
  const { members, providerPort } = options;
  const url = await postgres.database();
  await using contestant = await startContestant('ours', { members, providerPort, postgres: { url, nodes } });
  await load(contestant, warmUps);
  const meter = new DatabaseMeter(postgres, url);
  await meter.measureIdle(idleSeconds);
  const measured: PhaseMeasurement[] = [];
  for (const phase of phases.filter(({ name }) => names.includes(name))) {
    const { value, done } = await meter.during(() => loadOne(contestant, phase));
    measured.push({ ...value, database: perRun(done, value.runs) });
  }
  return measured;
}
