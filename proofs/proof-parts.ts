import type { Part, PartResult } from '../scripts/parts.ts';
import type { Proof } from './proof.ts';
import { PROOFS } from './proof-table.ts';
import { problemIn, runProof } from './run-proof.ts';

/** A proof that takes longer at full scale runs in its short form. */
const MAX_MINUTES = 3;
/** Ends a proof that hangs: after a multiple of the duration that it declares for full scale, but not before this. */
const MIN_LIMIT_MS = 600_000;
const FULL_LIMIT = 5;
const SHORT_LIMIT = 2;
const SEVERAL = '3';

/** Every proof, the longest first, then every planted fault in the short form, which must fail with its sentence. */
export function proofParts(): Part[] {
  const [proved, faulty]: [Part[], Part[]] = [[], []];
  for (const [name, proof] of [...PROOFS].toSorted(([, a], [, b]) => toMinutes(b) - toMinutes(a))) {
    const scale = isLong(proof) ? ['--short'] : [];
    for (const nodes of proof.spreads === true ? [[], ['--nodes', SEVERAL]] : [[]]) {
      proved.push(makePart(name, proof, [...nodes, ...scale], null));
      for (const [fault, sentence] of Object.entries(proof.faults)) {
        faulty.push(makePart(name, proof, [...nodes, '--fault', fault, '--short'], sentence));
      }
    }
  }
  return [...proved, ...faulty];
}

const isLong = ({ minutes }: Proof) => minutes > MAX_MINUTES;
const toMinutes = (proof: Proof) => (isLong(proof) ? 0 : proof.minutes);

/** `sentence` is what the proof must fail with; null if it must pass. */
function makePart(name: string, proof: Proof, args: readonly string[], sentence: RegExp | null): Part {
  const { minutes } = proof;
  const factor = args.includes('--short') ? SHORT_LIMIT : FULL_LIMIT;
  const limitMs = Math.max(MIN_LIMIT_MS, factor * 60_000 * minutes);
  const isReduced = sentence === null && isLong(proof);
  async function run(): Promise<PartResult> {
    const outcome = await runProof([name, ...args], limitMs);
    const output = `${outcome.stdout}${outcome.stderr}`;
    const lines = output.trimEnd().split('\n');
    const line = lines.find((line) => (sentence ?? /^(PROVED|LEFT OUT) /).test(line)) ?? lines.at(-1) ?? '';
    const summary = isReduced ? `${line} (short form: at full scale it takes ${minutes} minutes)` : line;
    return { problem: problemIn(outcome, sentence), summary, output };
  }
  // A planted fault has to fail, so it need not run alone.
  const alone = sentence === null && proof.measuresTime === true;
  return { name, label: [name, ...args].join(' '), alone, run };
}
