import { parseArgs } from 'node:util';
import { Connection } from './connection.ts';
import { type Contestant, firstMessage, startContestant, startProvider } from './contestants.ts';
import { writeDocsSection } from './docs-section.ts';
import { type Order, orderText } from './model.ts';
import { integrationFor, median, memberId } from './phases.ts';
import { grid } from './table.ts';
import { writeFileSync } from 'node:fs';

/*
 * The time to the first token of a rerun after the last step but one of a run with 50 model steps, compared with a plain run's.
 * Plain runs and reruns alternate on one connection to one server, so both see the same load of the machine.
 */

const { values: options } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '5' },
    runs: { type: 'string', default: '200' },
    'in-process': { type: 'boolean', default: false },
    'update-docs': { type: 'boolean', default: false },
    profile: { type: 'string' },
  },
});
const ROUNDS = Number(options.rounds);
/** Pairs of a plain run and a rerun in a round. */
const RUNS = Number(options.runs);
const WARM_UP = 400;
/** The default limit for model steps. The last one answers. */
const STEPS = 50;
const GOAL = 1.5;

const ANSWER: Order = { tokens: 20, burst: 1, everyMs: 0 };
const LONG: Order = { ...ANSWER, calls: STEPS - 1 };

class Client {
  readonly #connection: Connection;
  readonly #order: Contestant['order'];
  readonly #integration: string;
  #requests = 0;

  constructor({ order }: Contestant) {
    this.#order = order;
    this.#integration = integrationFor(order.integrationId, 'tools');
    this.#connection = new Connection(order.servers[0]?.port ?? 0, null);
  }

  #post(path: string, body: object, order: Order): Promise<number> {
    const text = JSON.stringify(body);
    const head = `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${this.#order.apiKey}\r\n`;
    const request = `${head}content-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`;
    return this.#connection.ask(request, order, null);
  }

  /** Resolves to the milliseconds to the first token. */
  complete(order: Order): Promise<number> {
    this.#requests += 1;
    const usageRequestId = `reruns-${this.#requests}`;
    const caller = { apiIntegrationId: this.#integration, consumerId: memberId(0), usageRequestId };
    return this.#post(this.#order.path, { ...caller, message: orderText(order) }, order);
  }

  rerun(runId: string, afterStep: number): Promise<number> {
    const path = `/v2/integrations/${this.#integration}/runs/${runId}/rerun`;
    return this.#post(path, { afterStep }, ANSWER);
  }

  get lastRunId(): string {
    return this.#connection.runId ?? '';
  }

  close(): void {
    this.#connection.close();
  }
}

const provider = options['in-process'] ? null : await startProvider();
await using contestant = await startContestant('ours', { members: 1, providerPort: provider?.port ?? null });
const client = new Client(contestant);
await client.complete(LONG);
const original = client.lastRunId;
/** A model step and a tool step for each call, and the answer. */
const afterStep = 2 * (STEPS - 1);

async function alternate(pairs: number) {
  const times = { plain: [] as number[], rerun: [] as number[] };
  for (let pair = 0; pair < pairs; pair += 1) {
    times.plain.push(await client.complete(ANSWER));
    times.rerun.push(await client.rerun(original, afterStep));
  }
  return times;
}

await alternate(WARM_UP);
if (options.profile !== undefined) {
  contestant.process.send('start-profile');
  await firstMessage(contestant.process);
  for (let n = 0; n < RUNS; n += 1) await client.rerun(original, afterStep);
  contestant.process.send('stop-profile');
  const { profile } = await firstMessage<{ profile: unknown }>(contestant.process);
  writeFileSync(options.profile, JSON.stringify(profile));
}
const at = (values: readonly number[], share: number) =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length * share)] ?? 0;
const rounds: { plain: number; rerun: number; ratio: number; tenth: number }[] = [];
for (let round = 1; round <= ROUNDS; round += 1) {
  const { plain, rerun } = await alternate(RUNS);
  const figures = {
    plain: median(plain),
    rerun: median(rerun),
    ratio: median(rerun) / median(plain),
    tenth: at(rerun, 0.1) / at(plain, 0.1),
  };
  rounds.push(figures);
  const { plain: plainMs, rerun: rerunMs, ratio, tenth } = figures;
  process.stderr.write(
    `round ${round} of ${ROUNDS}: plain ${plainMs.toFixed(2)} ms · rerun ${rerunMs.toFixed(2)} ms · ${ratio.toFixed(2)} × · fastest tenth ${tenth.toFixed(2)} ×\n`,
  );
}
client.close();
provider?.stop();
const ratio = median(rounds.map((round) => round.ratio));
process.stdout.write(`ratio ${ratio.toFixed(2)} tenth ${median(rounds.map((r) => r.tenth)).toFixed(2)}\n`);
