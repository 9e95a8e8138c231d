import { childrenSeconds } from './processor-time.ts';
import type { Progress } from './progress.ts';

/** A part of a long check. */
export interface Part {
  /** Selects the part on the command line. Several parts can have the same name. */
  readonly name: string;
  /** Names this part alone. */
  readonly label: string;
  /** True if the part measures time: no other part may run beside it. */
  readonly alone?: boolean;
  run(): Promise<PartResult>;
}

export interface PartResult {
  /** Why the part failed; null if it passed. */
  readonly problem: string | null;
  /** What the part found, in one line. */
  readonly summary: string;
  readonly output: string;
}

const LAST_LINES = 40;
/** After this line, Node's test runner prints every failed test again. */
const FAILED_TESTS = '✖ failing tests:';

function failureText(label: string, { problem, output }: PartResult): string {
  const lines = output.trimEnd().split('\n');
  const start = lines.lastIndexOf(FAILED_TESTS);
  const shown = start === -1 ? lines.slice(-LAST_LINES) : lines.slice(start + 1);
  return `\n✖ ${label}: ${problem}\n${shown.map((line) => `  | ${line}\n`).join('')}`;
}

/**
 * Runs the parts that have not passed yet, `lanes` of them concurrently, then each timed part alone, and prints a line for
 * each. Resolves to a text for each part that failed.
 */
export async function runParts(parts: readonly Part[], progress: Progress, lanes: number): Promise<string[]> {
  const rest = parts.filter(({ label }) => !progress.has(label));
  if (rest.length < parts.length)
    process.stdout.write(`${parts.length - rest.length} of ${parts.length} parts passed before\n`);
  const failures: string[] = [];
  let counted = childrenSeconds() ?? 0;
  /** The system counts a process when it has ended, so the seconds since the last part ended belong to this one. */
  function cpuSeconds(): string {
    const [before, now] = [counted, childrenSeconds()];
    counted = now ?? 0;
    return now === null ? '' : `, ${(now - before).toFixed(0)} CPU s`;
  }
  async function lane(queue: Iterable<Part>): Promise<void> {
    for (const part of queue) {
      const start = performance.now();
      const result = await part.run();
      if (result.problem === null) progress.add(part.label);
      else failures.push(failureText(part.label, result));
      const seconds = ((performance.now() - start) / 1000).toFixed(0);
      const outcome = result.problem === null ? 'ok' : 'FAILED';
      process.stdout.write(`${outcome} ${part.label}, ${seconds} s${cpuSeconds()}: ${result.summary}\n`);
    }
  }
  const shared = rest.filter(({ alone }) => alone !== true).values();
  await Promise.all(Array.from({ length: lanes }, () => lane(shared)));
  await lane(rest.filter(({ alone }) => alone === true));
  return failures;
}
