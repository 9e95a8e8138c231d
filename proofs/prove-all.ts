import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Progress } from '../scripts/progress.ts';
import { PROOFS } from './all-proofs.ts';
import { problemIn, runProof } from './support/run-proof.ts';

/*
 * Runs every proof, and then every planted fault in the short form, which must fail with its sentence. A part that passed is
 * noted, so that an interrupted run continues after it; the notes count only while the sources stay the same.
 *
 * node -C runwire proofs/prove-all.ts [--lanes <number>] [--short] [<name>...]
 */

/** A proof that takes longer at full scale runs in its short form. */
const MAX_MINUTES = 3;
/** A part may take five times the duration that its proof declares, and at least this long. */
const MIN_LIMIT_MS = 300_000;
const SEVERAL = '3';

interface Part {
  readonly name: string;
  readonly args: readonly string[];
  readonly scale: string;
  readonly limitMs: number;
  /** The sentence that it must fail with; null if it must pass. */
  readonly says: RegExp | null;
}

async function allParts(names: readonly string[], isShort: boolean): Promise<Part[]> {
  const [proved, faulty]: [Part[], Part[]] = [[], []];
  for (const name of names) {
    const proof = await PROOFS.get(name)?.();
    if (proof === undefined)
      throw new Error(`There is no proof \`${name}\`. The names are: ${[...PROOFS.keys()].join(', ')}.`);
    const isLong = isShort || proof.minutes > MAX_MINUTES;
    const scale = isLong ? `short form: at full scale it takes ${proof.minutes} minutes` : 'full scale';
    const limitMs = Math.max(MIN_LIMIT_MS, 5 * 60_000 * proof.minutes);
    for (const nodes of proof.spreads === true ? [[], ['--nodes', SEVERAL]] : [[]]) {
      proved.push({ name, args: [...nodes, ...(isLong ? ['--short'] : [])], scale, limitMs, says: null });
      for (const [fault, says] of Object.entries(proof.faults)) {
        faulty.push({ name, args: [...nodes, '--fault', fault, '--short'], scale: 'fault', limitMs, says });
      }
    }
  }
  return [...proved, ...faulty];
}

const { values, positionals } = parseArgs({
  options: { lanes: { type: 'string', default: '2' }, short: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const parts = await allParts(positionals.length === 0 ? [...PROOFS.keys()] : positionals, values.short);
const progress = new Progress(resolve('.work/proved.txt'));
const queue = parts.filter((part) => !progress.has([part.name, ...part.args].join(' ')));
if (queue.length < parts.length) process.stdout.write(`${parts.length - queue.length} parts passed before\n`);
let failed = 0;

async function lane(): Promise<void> {
  for (let part = queue.shift(); part !== undefined; part = queue.shift()) {
    const label = [part.name, ...part.args].join(' ');
    const startedAt = performance.now();
    const outcome = await runProof([part.name, ...part.args], part.limitMs);
    const problem = problemIn(outcome, part.says);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
    const lines = `${outcome.stdout}${outcome.stderr}`.trimEnd().split('\n');
    const said = lines.find((line) => (part.says ?? /^(PROVED|LEFT OUT) /).test(line)) ?? lines.at(-1);
    if (problem === null) progress.add(label);
    else failed += 1;
    process.stdout.write(`${problem === null ? 'ok' : 'FAILED'} ${label} (${part.scale}), ${seconds} s: ${said}\n`);
    const details = [problem ?? '', ...lines.slice(-40)].map((line) => `  | ${line}\n`);
    if (problem !== null) process.stdout.write(details.join(''));
  }
}

await Promise.all(Array.from({ length: Number(values.lanes) }, lane));
process.stdout.write(`proofs: ${parts.length - failed} of ${parts.length} parts passed\n`);
if (failed === 0) progress.clear();
else process.exitCode = 1;
