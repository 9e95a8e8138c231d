import { stopOwnPostgres, stopOwnS3 } from '@runwire/test-kit';
import { LeftOut, Shortfall } from '@runwire/test-kit/shortfall.ts';

/** The command's arguments are wrong. */
export class UsageError extends Error {}

/** How long a finished proof may take to close what it opened. */
const CLOSING_MS = 3000;
/** How long the services that it started may take to stop. */
const STOPPING_MS = 30_000;

/** Runs a proof, prints its `PROVED` line or what was wrong, and ends the process even if the proof left something open. */
export async function conclude(prove: () => Promise<string>, usage: string): Promise<void> {
  try {
    process.stdout.write(`PROVED ${await prove()}\n`);
  } catch (error) {
    if (error instanceof UsageError) process.stderr.write(`${error.message}\n${usage}`);
    else if (error instanceof LeftOut) process.stdout.write(`LEFT OUT ${error.message}\n`);
    else if (error instanceof Shortfall) process.stderr.write(`${error.message}\n`);
    else process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
    process.exitCode = error instanceof UsageError ? 2 : error instanceof LeftOut ? 0 : 1;
  }
  const stopping = setTimeout(endAnyway, STOPPING_MS);
  await Promise.all([stopOwnPostgres(), stopOwnS3()]);
  clearTimeout(stopping);
  // The timer does not keep the process alive. It fires only if something else does.
  setTimeout(endAnyway, CLOSING_MS).unref();
}

/** A load that a failed proof left running would never end. Servers end when their parent process does. */
async function endAnyway(): Promise<void> {
  const left = Map.groupBy(process.getActiveResourcesInfo(), (kind) => kind);
  const kinds = [...left].map(([kind, all]) => `${all.length} ${kind}`).join(', ');
  process.stderr.write(`The proof has finished but left open: ${kinds}. Its process ends anyway.\n`);
  await Promise.all([process.stdout, process.stderr].map((stream) => new Promise((done) => stream.write('', done))));
  process.exit();
}
