import { parseArgs } from 'node:util';
import { LeftOut, type Proof, Shortfall } from './support/proof.ts';

const PROOFS: Readonly<Record<string, () => Promise<{ readonly proof: Proof }>>> = {
  'fresh-clone': () => import('./fresh-clone.ts'),
  'one-run': () => import('./one-run.ts'),
  'allowance-race': () => import('./allowance-race.ts'),
  'kill-anywhere': () => import('./kill-anywhere.ts'),
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
  upgrade: () => import('./upgrade.ts'),
};

class UsageError extends Error {}

const usage = `Usage: npm run prove -- <name> [--fault <fault>] [--short]\nNames: ${Object.keys(PROOFS).join(', ')}\n`;

function readArguments() {
  try {
    const options = { fault: { type: 'string' }, short: { type: 'boolean', default: false } } as const;
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    const [name, ...more] = positionals;
    const load = name !== undefined && Object.hasOwn(PROOFS, name) ? PROOFS[name] : undefined;
    if (load === undefined || more.length > 0) throw new UsageError('Give the name of one proof.');
    return { load, fault: values.fault ?? null, short: values.short };
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

async function prove(): Promise<void> {
  const { load, fault, short } = readArguments();
  const { proof } = await load();
  if (fault !== null && !proof.faults.includes(fault)) {
    throw new UsageError(`\`${proof.name}\` has no fault \`${fault}\`; there are: ${proof.faults.join(', ')}.`);
  }
  const figures = Object.entries(await proof.run({ fault, short }));
  process.stdout.write(`PROVED ${[proof.name, ...figures.map(([key, value]) => `${key}=${value}`)].join(' ')}\n`);
}

try {
  await prove();
} catch (error) {
  if (error instanceof UsageError) process.stderr.write(`${error.message}\n${usage}`);
  else if (error instanceof LeftOut) process.stdout.write(`LEFT OUT ${error.message}\n`);
  else if (error instanceof Shortfall) process.stderr.write(`${error.message}\n`);
  else process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
  process.exitCode = error instanceof UsageError ? 2 : error instanceof LeftOut ? 0 : 1;
}
