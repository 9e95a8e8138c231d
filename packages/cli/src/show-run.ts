import type { Run } from '@runwire/client';
import type { Command } from 'commander';
import { EXIT } from './exit-codes.ts';
import { leave, onInterrupt } from './interrupts.ts';
import { printJson } from './output.ts';
import { explainEnd, RunDisplay } from './run-display.ts';

interface ShowOptions {
  readonly quiet?: true;
  readonly json?: true;
}

/** Shows the run to its end, and sets the exit code. Ctrl-C cancels the run. */
export async function showRun(run: Run, { json, quiet }: ShowOptions, command: Command): Promise<void> {
  const display = new RunDisplay(run, { isQuiet: quiet === true, isLive: !json && process.stdout.isTTY });
  let isInterrupted = false;
  using _ = onInterrupt(() => {
    if (isInterrupted) leave();
    isInterrupted = true;
    display.aside('Cancelling the run; press Ctrl-C again to leave.');
    // If the run cannot be cancelled any more, it ends by itself.
    run.cancel().catch(() => {});
  });
  for await (const event of run) display.show(event);
  const result = await run.result();
  if (json) printJson(result);
  else display.end(result);
  process.exitCode = isInterrupted ? EXIT.interrupted : explainEnd(result, command);
}
