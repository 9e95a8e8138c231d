import type { Check } from './import-checks.ts';
import { listImports } from './sources.ts';

/** Import cycles, types included: each as the shortest way from its first file back to it. */
export const checkCycles: Check = (sources) => {
  const edges = new Map<string, string[]>();
  for (const [path, text] of sources) {
    // A worker's file is started, not imported.
    const targets = listImports(path, text).filter(({ kind }) => kind !== 'url');
    edges.set(
      path,
      targets.flatMap(({ target }) => (target !== undefined && sources.has(target) ? [target] : [])),
    );
  }
  const reported = new Set<string>();
  const cycles: string[] = [];
  for (const path of edges.keys()) {
    if (reported.has(path)) continue;
    const cycle = shortestWayBack(edges, path);
    if (cycle === undefined) continue;
    for (const member of cycle) reported.add(member);
    cycles.push(`import cycle: ${[...cycle, path].join(' → ')}`);
  }
  return cycles;
};

function shortestWayBack(edges: ReadonlyMap<string, readonly string[]>, start: string): string[] | undefined {
  const cameFrom = new Map<string, string>();
  const queue = [start];
  for (const current of queue) {
    for (const next of edges.get(current) ?? []) {
      if (next === start) {
        const way = [current];
        while (way[0] !== start) way.unshift(cameFrom.get(way[0] as string) as string);
        return way;
      }
      if (!cameFrom.has(next)) {
        cameFrom.set(next, current);
        queue.push(next);
      }
    }
  }
  return undefined;
}
