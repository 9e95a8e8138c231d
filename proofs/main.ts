import { parseArgs } from 'node:util';
import { expectEqual } from '@runwire/test-kit/shortfall.ts';
import { PROOFS } from './all-proofs.ts';
import { conclude, UsageError } from './support/conclude.ts';
import type { Scale } from './support/proof.ts';

const MAX_NODES = 9;
const usage = `Usage: npm run prove -- <name> [--fault <fault>] [--nodes <number>] [--short]\nNames: ${[...PROOFS.keys()].join(', ')}\n`;

function readArguments() {
  try {
    const options = {
      fault: { type: 'string' },
      nodes: { type: 'string' },
      short: { type: 'boolean', default: false },
    } as const;
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    const load = positionals.length === 1 ? PROOFS.get(positionals[0] ?? '') : undefined;
    if (load === undefined) throw new UsageError('Give the name of one proof.');
    return { load, fault: values.fault ?? null, nodes: nodesIn(values.nodes), short: values.short };
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function nodesIn(text: string | undefined): number | null {
  if (text === undefined) return null;
  const nodes = Number(text);
  if (!Number.isInteger(nodes) || nodes < 2 || nodes > MAX_NODES) {
    throw new UsageError(`\`--nodes\` must be a whole number from 2 to ${MAX_NODES}.`);
  }
  return nodes;
}

async function prove(): Promise<string> {
  const { load, fault, nodes, short } = readArguments();
  const proof = await load();
  if (fault !== null && !Object.hasOwn(proof.faults, fault)) {
    const faults = Object.keys(proof.faults).join(', ');
    throw new UsageError(`\`${proof.name}\` has no fault \`${fault}\`. Its faults are: ${faults}.`);
  }
  if (nodes !== null && proof.spreads !== true) throw new UsageError(`\`${proof.name}\` has no \`--nodes\`.`);
  const scale: Scale = (small, full) => (short ? small : full);
  const figures = await proof.run({ fault, nodes, scale });
  const exact = nodes === null ? (proof.figures?.(scale) ?? {}) : {};
  for (const [key, expected] of Object.entries(exact)) expectEqual(key, figures[key] ?? Number.NaN, expected);
  return [proof.name, ...Object.entries(figures).map(([key, value]) => `${key}=${value}`)].join(' ');
}

await conclude(prove, usage);
