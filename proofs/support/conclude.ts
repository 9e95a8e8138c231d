import { stopOwnPostgres, stopOwnS3 } from '@runwire/test-kit';
import { LeftOut, Shortfall } from './proof.ts';

/** The command was not given as it has to be. */
export class UsageError extends Error {}

/** What a proof that is over may take to close what it opened. */
const CLOSING_MS = 3000;
/** What the services that it started may take to stop. */
const STOPPING_MS = 30_000;

/** Runs a proof to its line, `PROVED …`, or to what fell short, and then ends the process, whatever the proof left open. */
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
  // Of a process that ends by itself it is never heard.
  setTimeout(endAnyway, CLOSING_MS).unref();
}

/** A load that a failed proof left running would go on for ever. Servers in processes of their own end with this one. */
async function endAnyway(): Promise<void> {
  const left = Map.groupBy(process.getActiveResourcesInfo(), (kind) => kind);
  const kinds = [...left].map(([kind, all]) => `${all.length} ${kind}`).join(', ');
  process.stderr.write(`The proof is over and left open: ${kinds}. Its process is ended all the same.\n`);
  await Promise.all([process.stdout, process.stderr].map((stream) => new Promise((done) => stream.write('', done))));
  process.exit();
}
