import { parseArgs } from 'node:util';
import { conclude, UsageError } from './support/conclude.ts';
import type { Proof } from './support/proof.ts';

const PROOFS: Readonly<Record<string, () => Promise<{ readonly proof: Proof }>>> = {
  'fresh-clone': () => import('./fresh-clone.ts'),
  'one-run': () => import('./one-run.ts'),
  pairs: () => import('./pairs.ts'),
  'allowance-race': () => import('./allowance-race.ts'),
  'far-reader': () => import('./far-reader.ts'),
  'kill-anywhere': () => import('./kill-anywhere.ts'),
  takeover: () => import('./takeover.ts'),
  zombie: () => import('./zombie.ts'),
  resume: () => import('./resume.ts'),
  'cut-anywhere': () => import('./cut-anywhere.ts'),
  'slow-readers': () => import('./slow-readers.ts'),
  adapters: () => import('./adapters.ts'),
  'bad-models': () => import('./bad-models.ts'),
  clients: () => import('./clients.ts'),
  'bad-input': () => import('./bad-input.ts'),
  heal: () => import('./heal.ts'),
  cancel: () => import('./cancel.ts'),
  'text-mode': () => import('./text-mode.ts'),
  outage: () => import('./outage.ts'),
  'lost-commit': () => import('./lost-commit.ts'),
  'full-disk': () => import('./full-disk.ts'),
  fair: () => import('./fair.ts'),
  restore: () => import('./restore.ts'),
  upgrade: () => import('./upgrade.ts'),
  paths: () => import('./paths.ts'),
  ssrf: () => import('./ssrf.ts'),
  attachments: () => import('./attachments.ts'),
  refresh: () => import('./refresh.ts'),
  'post-policy': () => import('./post-policy.ts'),
  upload: () => import('./upload.ts'),
  'upload-load': () => import('./upload-load.ts'),
  'upload-kill': () => import('./upload-kill.ts'),
  'mount-race': () => import('./mount-race.ts'),
  stores: () => import('./stores.ts'),
};

const MAX_NODES = 9;
const usage = `Usage: npm run prove -- <name> [--fault <fault>] [--nodes <number>] [--short]\nNames: ${Object.keys(PROOFS).join(', ')}\n`;

function readArguments() {
  try {
    const options = {
      fault: { type: 'string' },
      nodes: { type: 'string' },
      short: { type: 'boolean', default: false },
    } as const;
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    const [name, ...more] = positionals;
    const load = name !== undefined && Object.hasOwn(PROOFS, name) ? PROOFS[name] : undefined;
    if (load === undefined || more.length > 0) throw new UsageError('Give the name of one proof.');
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
  const { proof } = await load();
  if (fault !== null && !proof.faults.includes(fault)) {
    throw new UsageError(`\`${proof.name}\` has no fault \`${fault}\`; there are: ${proof.faults.join(', ')}.`);
  }
  if (nodes !== null && proof.spreads !== true) throw new UsageError(`\`${proof.name}\` has no \`--nodes\`.`);
  const figures = Object.entries(await proof.run({ fault, short, nodes }));
  return [proof.name, ...figures.map(([key, value]) => `${key}=${value}`)].join(' ');
}

await conclude(prove, usage);
