import type { Proof } from './support/proof.ts';
import { proofFromTests } from './support/test-proof.ts';
import { TEST_PROOFS } from './test-proofs.ts';

/** Every promise that a command checks, in the order of docs/promises.md. */
const NAMES = `
  fresh-clone one-run pairs allowance-race far-reader kill-anywhere takeover zombie resume agents-resume ask cut-anywhere sdk sdk-cut runtimes packages slow-readers adapters
  thinking fallbacks structured agencies bad-tools reloads portable mcp bad-models clients bad-input heal cancel text-mode outage lost-commit full-disk doctor fair loop restore rollups upgrade paths
  ssrf attachments documents refresh post-policy upload upload-load upload-kill files-atomic publish escape member-files tokens sign-in console console-stream console-large console-hostile stores erase`;

async function load(name: string): Promise<Proof> {
  const tests = TEST_PROOFS[name];
  return tests === undefined ? (await import(`./${name}.ts`)).proof : proofFromTests(name, tests);
}

/** Loaded by name: a proof loads only what it needs itself. */
export const PROOFS = new Map(
  NAMES.trim()
    .split(/\s+/)
    .map((name) => [name, () => load(name)]),
);
