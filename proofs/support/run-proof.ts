import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface ProofRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const main = fileURLToPath(new URL('../main.ts', import.meta.url));
const LIMIT_MS = 220_000;

/** A proof as its command runs it, in its short form. */
export function runProof(name: string, ...options: readonly string[]): Promise<ProofRun> {
  const child = spawn(process.execPath, ['-C', 'runwire', main, name, '--short', ...options], {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: LIMIT_MS,
    // Its servers count as those of this test.
    env: { ...process.env, TEST_FILE: process.argv[1] },
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
}
