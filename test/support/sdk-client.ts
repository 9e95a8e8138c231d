import { text } from 'node:stream/consumers';
import { Runwire, RunwireError } from '@runwire/client';
import { clientFaults } from './sdk-faults.ts';

/*
 * A client process of the proof `sdk`. It reads the job, as JSON, from its input, and writes a line of JSON for each
 * run to its output. A client in another language can take its place.
 */

export interface ClientJob {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly integration: string;
  readonly consumerId: string;
  /** The `usageRequestId` of each run, which is its message too. */
  readonly ids: readonly string[];
  readonly concurrency: number;
  readonly silenceMs: number;
  readonly fault: string | null;
}

export interface ClientReport {
  readonly id: string;
  /** Null if the run failed for the client; `error` tells why. */
  readonly runId: string | null;
  /** The answer, as the client put it together. */
  readonly text: string;
  readonly error: string | null;
  /** More than one: the run was disturbed. */
  readonly requests: number;
}

async function runOne(job: ClientJob, id: string): Promise<ClientReport> {
  let requests = 0;
  const send = clientFaults[job.fault ?? '']?.(fetch) ?? fetch;
  const counting: typeof fetch = (input, init) => {
    requests += 1;
    return send(input, init);
  };
  const client = new Runwire({
    ...{ baseUrl: job.baseUrl, apiKey: job.apiKey, integration: job.integration, fetch: counting },
    // Each run has its own client here: a server that restarts is no server that never answered.
    timing: { silenceMs: job.silenceMs, connectMs: 120_000, minPauseMs: 50, maxPauseMs: 1000 },
  });
  const run = client.run({ message: id, usageRequestId: id, consumerId: job.consumerId });
  try {
    await run.text();
    return { id, runId: run.handle.runId, text: run.currentText, error: null, requests };
  } catch (error) {
    const code = error instanceof RunwireError ? `${error.code}: ` : '';
    return { id, runId: null, text: '', error: `${code}${(error as Error).message}`, requests };
  }
}

const job = JSON.parse(await text(process.stdin)) as ClientJob;
const ids = job.ids.values();
const lane = async () => {
  for (const id of ids) process.stdout.write(`${JSON.stringify(await runOne(job, id))}\n`);
};
await Promise.all(Array.from({ length: job.concurrency }, lane));
process.exit();
