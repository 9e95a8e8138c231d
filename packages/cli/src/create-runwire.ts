import { addInitCommand } from './commands/init.ts';
import { newProgram, runProgram } from './run-program.ts';

/** Runs `runwire init` for `npm create runwire`, which has no other command. */
export async function createRunwire(args: readonly string[], version: string): Promise<void> {
  const program = newProgram(version);
  addInitCommand(program, version);
  await runProgram(program, ['init', ...args]);
}
