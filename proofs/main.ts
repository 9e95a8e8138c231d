import { parseArgs } from 'node:util';
import { conclude, UsageError } from './conclude.ts';
import { PROOFS } from './proof-table.ts';
import { prove } from './prove.ts';

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
    const [name = ''] = positionals;
    const proof = positionals.length === 1 ? PROOFS.get(name) : undefined;
    if (proof === undefined) throw new UsageError('Give the name of one proof.');
    return { name, proof, fault: values.fault ?? null, nodes: nodesIn(values.nodes), short: values.short };
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

async function proveNamed(): Promise<string> {
  const { name, proof, ...options } = readArguments();
  const { fault, nodes } = options;
  if (fault !== null && !Object.hasOwn(proof.faults, fault)) {
    const faults = Object.keys(proof.faults).join(', ');
    throw new UsageError(`\`${name}\` has no fault \`${fault}\`. Its faults are: ${faults}.`);
  }
  if (nodes !== null && proof.spreads !== true) throw new UsageError(`\`${name}\` has no \`--nodes\`.`);
  const figures = await prove(proof, options);
  return [name, ...Object.entries(figures).map(([key, value]) => `${key}=${value}`)].join(' ');
}

await conclude(proveNamed, usage);
