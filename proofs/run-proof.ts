import { fileURLToPath } from 'node:url';
import { type NodeOutcome, runNode } from '../scripts/run-node.ts';

const main = fileURLToPath(new URL('./main.ts', import.meta.url));

/** Runs a proof with these arguments as its command does. */
export const runProof = (args: readonly string[], limitMs: number): Promise<NodeOutcome> =>
  runNode([main, ...args], limitMs);

/**
 * Returns what is wrong with an outcome, or null. Without a fault a proof exits 0 after its `PROVED` line. With a fault
 * it exits 1 and prints the fault's sentence. A proof that this machine cannot run counts as passed unless `CI` is set.
 */
export function problemIn({ code, stdout, stderr }: NodeOutcome, sentence: RegExp | null): string | null {
  if (code === 0 && /^LEFT OUT /m.test(stdout) && !process.env.CI) return null;
  const isProved = /^PROVED .+$/m.test(stdout);
  if (sentence === null) return code === 0 && isProved ? null : `expected exit 0 and PROVED, found exit ${code}`;
  if (code !== 1 || isProved) return `expected exit 1 without PROVED, found exit ${code}`;
  return sentence.test(stderr) ? null : `expected a sentence like ${sentence}`;
}
