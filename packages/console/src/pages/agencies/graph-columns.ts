export interface GraphFlow {
  readonly from: string;
  readonly to: string;
  readonly kind: 'handoff' | 'delegate';
  /** `chat` if the chat's next runs begin with `to`. */
  readonly lasts: 'chat' | null;
  /** True if a function can hide it in a step. */
  readonly conditional: boolean;
}

export interface GraphInput {
  readonly agents: readonly string[];
  readonly entryPoints: readonly string[];
  readonly flows: readonly GraphFlow[];
}

/** Returns the agents' columns by their names. A flow that closes a cycle does not count. */
export function listColumns({ agents, entryPoints, flows }: GraphInput): ReadonlyMap<string, number> {
  const targets = Map.groupBy(flows, ({ from }) => from);
  const reached = new Set(flows.filter(({ from, to }) => from !== to).map(({ to }) => to));
  const isLeft = (name: string) => entryPoints.includes(name) && !reached.has(name);
  // A cycle is opened at the agent that is visited first: entry points to which no flow leads, then in their order.
  const starts = [...entryPoints.filter(isLeft), ...entryPoints, ...agents];
  const finished: string[] = [];
  const forward: GraphFlow[] = [];
  const states = new Map<string, 'open' | 'done'>();
  const visit = (name: string) => {
    states.set(name, 'open');
    for (const flow of targets.get(name) ?? []) {
      if (states.get(flow.to) === 'open') continue;
      forward.push(flow);
      if (!states.has(flow.to)) visit(flow.to);
    }
    states.set(name, 'done');
    finished.push(name);
  };
  for (const name of starts) if (!states.has(name)) visit(name);

  // Agents that no request can name are never in the first column, unless there are only such agents.
  const first = (name: string) => (entryPoints.length === 0 || entryPoints.includes(name) ? 0 : 1);
  const columns = new Map(finished.map((name) => [name, first(name)]));
  const forwardByAgent = Map.groupBy(forward, ({ from }) => from);
  for (const name of finished.toReversed()) {
    const next = (columns.get(name) ?? 0) + 1;
    for (const { to } of forwardByAgent.get(name) ?? []) columns.set(to, Math.max(columns.get(to) ?? 0, next));
  }
  return columns;
}
