import type { FlowFile } from '@runwire/contract/schemas';
import { comparedFields, nearestField } from '../domain/unknown-fields.ts';
import { type Faults, inWords, type Location, type Path } from './fault.ts';
import { type ConditionParts, findCondition } from './load-condition.ts';
import type { LoadedFlow } from './loaded-agency.ts';

const EVERY = '*';
const WRITTEN = /^(.+) (->|=>) (.+)$/;

interface ExpandedFlow extends LoadedFlow {
  readonly from: string;
  readonly isExplicit: boolean;
  /** The position among all expanded flows, in the order in which they were written. */
  readonly index: number;
  readonly path: Path;
}

/** What flows name. */
interface FlowParts {
  readonly agents: readonly string[];
  readonly conditions: ConditionParts;
}

/**
 * Checks the flows and expands wildcards. A flow that names both agents replaces the wildcards for these two.
 * Returns the flows by the agent that they begin at.
 */
export function expandFlows(
  flows: readonly (string | FlowFile)[],
  { agents, conditions }: FlowParts,
  location: Location,
  faults: Faults,
): ReadonlyMap<string, readonly LoadedFlow[]> {
  const expanded: ExpandedFlow[] = [];
  const wildcards = new Set<string>();
  for (const [index, written] of flows.entries()) {
    const path: Path = ['flows', index];
    const flow = typeof written === 'string' ? parseFlow(written) : written;
    const { from, to, kind = 'delegate' } = flow;
    const at = (field: 'from' | 'to') => (typeof written === 'string' ? path : [...path, field]);
    const isKnown = [
      checkAgent(from, agents, { location, path: at('from'), piece: from }, faults),
      checkAgent(to, agents, { location, path: at('to'), piece: to }, faults),
    ];
    if (isKnown.includes(false)) continue;
    if (from === to && from !== EVERY) {
      faults.add(
        location,
        path,
        `\`${from}\` cannot ${kind === 'delegate' ? 'ask' : 'hand over to'} itself; remove this flow.`,
      );
      continue;
    }
    if (kind === 'handoff' && flow.memory !== undefined) {
      faults.add(location, [...path, 'memory'], '`memory` is only for delegations; remove it.', 'key');
      continue;
    }
    const isExplicit = from !== EVERY && to !== EVERY;
    if (kind === 'delegate' && flow.lasts !== undefined) {
      const sentence = '`lasts` is only for hand-offs; remove it, or write `kind: handoff`.';
      faults.add(location, [...path, 'lasts'], sentence, 'key');
      continue;
    }
    // A wildcard that is written again adds nothing; expanding each one could fill the memory.
    const wildcard = JSON.stringify([from, to, kind]);
    if (!isExplicit && wildcards.has(wildcard)) continue;
    wildcards.add(wildcard);
    const { memory = 'chat', lasts } = flow;
    const named = { location, path: [...path, 'isEnabled'] };
    const isEnabled = findCondition(flow.isEnabled, conditions, named, faults);
    const way = { kind, memory, ...(lasts !== undefined && { lasts }), ...(isEnabled !== undefined && { isEnabled }) };
    for (const sender of from === EVERY ? agents : [from]) {
      for (const recipient of to === EVERY ? agents : [to]) {
        if (sender === recipient) continue;
        expanded.push({ ...way, from: sender, to: recipient, isExplicit, index: expanded.length, path });
      }
    }
  }
  return byAgent(expanded, agents, location, faults);
}

function byAgent(expanded: readonly ExpandedFlow[], agents: readonly string[], location: Location, faults: Faults) {
  const pairs = new Map<string, ExpandedFlow[]>();
  const explicit = new Set<string>();
  for (const flow of expanded.toSorted((a, b) => Number(b.isExplicit) - Number(a.isExplicit))) {
    const { from, to, kind, isExplicit, path } = flow;
    const pair = JSON.stringify([from, to]);
    const known = pairs.get(pair) ?? [];
    if (isExplicit) explicit.add(pair);
    else if (explicit.has(pair)) continue;
    if (known.some((other) => other.kind === kind)) {
      if (isExplicit) faults.add(location, path, `The flow from \`${from}\` to \`${to}\` is written twice; keep one.`);
      continue;
    }
    pairs.set(pair, [...known, flow]);
  }
  // In the order in which they were written, so that an agent's tools have a stable order.
  const order = [...pairs.values()].flat().toSorted((a, b) => a.index - b.index);
  return new Map(agents.map((name) => [name, order.filter(({ from }) => from === name).map(toLoaded)]));
}

const toLoaded = ({ to, kind, memory, lasts, isEnabled }: ExpandedFlow): LoadedFlow => ({
  to,
  kind,
  memory,
  ...(lasts !== undefined && { lasts }),
  ...(isEnabled !== undefined && { isEnabled }),
});

function parseFlow(written: string): FlowFile {
  // The shape was checked.
  const [, from = '', arrow = '', to = ''] = WRITTEN.exec(written) ?? [];
  return { from: from.trim(), to: to.trim(), kind: arrow === '=>' ? 'handoff' : 'delegate' };
}

interface WrittenName {
  readonly location: Location;
  readonly path: Path;
  /** What is wrong in the text at `path`. */
  readonly piece: string;
}

function checkAgent(
  name: string,
  agents: readonly string[],
  { location, path, piece }: WrittenName,
  faults: Faults,
): boolean {
  if (name === EVERY || agents.includes(name)) return true;
  faults.addPiece(location, path, piece, unknownAgent(name, agents));
  return false;
}

export function unknownAgent(name: string, agents: readonly string[]): string {
  const near = nearestField(name, comparedFields(agents));
  const advice = near === null ? `write ${inWords(agents)}` : `did you mean \`${near}\`?`;
  return `There is no agent \`${name}\`; ${advice}${advice.endsWith('?') ? '' : '.'}`;
}
