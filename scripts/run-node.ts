import { spawn } from 'node:child_process';

export interface NodeOutcome {
  /** The exit code; null if a signal ended the process. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A process that the program left running can keep its output open. */
const LATE_OUTPUT_MS = 5000;

/** Runs a program with Node from the sources and collects its output. Ends it after the limit. */
export function runNode(args: readonly string[], limitMs: number): Promise<NodeOutcome> {
  const child = spawn(process.execPath, ['-C', 'runwire', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: limitMs,
  });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
    });
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => {
      const timer = setTimeout(() => {
        for (const name of ['stdout', 'stderr'] as const) child[name].destroy();
      }, LATE_OUTPUT_MS);
      child.once('close', () => {
        clearTimeout(timer);
        resolve({ code, ...output });
      });
    });
  });
}
