import type { ServiceNode } from '@runwire/client';

/** The figures of all nodes together. */
export interface NodeSums {
  readonly alive: number;
  readonly versions: readonly string[];
  readonly activeRuns: number;
  readonly openStreams: number;
  readonly admitted: number;
  readonly replayed: number;
  readonly refused: number;
  /** Refused requests by code, most first. */
  readonly refusedByCode: readonly (readonly [code: string, count: number])[];
  /** The longest of all nodes. */
  readonly eventLagMs: number;
  readonly writerQueue: number;
}

export const isRunning = ({ state }: ServiceNode): boolean => state !== 'dead';

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

export function sumNodes(nodes: readonly ServiceNode[]): NodeSums {
  const running = nodes.filter(isRunning);
  // What a dead node reported last is not true any more.
  const stats = running.flatMap((node) => node.stats ?? []);
  const codes = new Map<string, number>();
  for (const { admissions } of stats) {
    for (const [code, count] of Object.entries(admissions.refused)) codes.set(code, (codes.get(code) ?? 0) + count);
  }
  return {
    alive: running.filter(({ state }) => state === 'alive').length,
    versions: [...new Set(running.map(({ version }) => version))].sort(),
    activeRuns: sum(nodes.map(({ activeRuns }) => activeRuns)),
    openStreams: sum(stats.map(({ openStreams }) => openStreams)),
    admitted: sum(stats.map(({ admissions }) => admissions.admitted)),
    replayed: sum(stats.map(({ admissions }) => admissions.replayed)),
    refused: sum([...codes.values()]),
    refusedByCode: [...codes].sort(([, one], [, other]) => other - one),
    eventLagMs: Math.max(0, ...stats.map(({ eventLagMs }) => eventLagMs)),
    writerQueue: sum(stats.map(({ writerQueue }) => writerQueue)),
  };
}
