import { parseArgs } from 'node:util';
import { Connection } from './connection.ts';
import { type Contestant, startContestant, startProvider } from './contestants.ts';
import { writeDocsSection } from './docs-section.ts';
import { type Order, orderText } from './model.ts';
import { integrationFor, median, memberId } from './phases.ts';
import { grid } from './table.ts';

/*
 * The time to the first token of a rerun that keeps all steps but the last of a run with 50 model steps, compared with a plain
 * run's. Plain runs and reruns alternate on one connection to one server, so both see the same load of the machine. Prints a table,
 * and one line of JSON.
 */

const { values: options } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '5' },
    /** Pairs of a plain run and a rerun in a round. */
    runs: { type: 'string', default: '300' },
    'in-process': { type: 'boolean', default: false },
    'update-docs': { type: 'boolean', default: false },
  },
});

const WARM_UP = 400;
/** The default limit for model steps. The last one answers, all others call a tool. */
const STEPS = 50;
/** The calls and their outcomes. */
const AFTER_STEP = 2 * (STEPS - 1);
const ANSWER: Order = { tokens: 20, burst: 1, everyMs: 0 };
const LONG: Order = { ...ANSWER, calls: STEPS - 1 };

/** One caller, who sends the next request after an answer is complete and checked. */
class Caller {
  readonly #connection: Connection;
  readonly #order: Contestant['order'];
  readonly #integration: string;
  #requests = 0;

  constructor({ order }: Contestant) {
    this.#order = order;
    this.#integration = integrationFor(order.integrationId, 'tools');
    this.#connection = new Connection(order.servers[0]?.port ?? 0, null);
  }

  /** Resolves to the milliseconds to the first token. */
  complete(order: Order): Promise<number> {
    this.#requests += 1;
    const usageRequestId = `reruns-${this.#requests}`;
    const caller = { apiIntegrationId: this.#integration, consumerId: memberId(0), usageRequestId };
    return this.#post(this.#order.path, { ...caller, message: orderText(order) }, order);
  }

  /** Resolves to the milliseconds to the first token. */
  rerun(runId: string): Promise<number> {
    const path = `/v2/integrations/${this.#integration}/runs/${runId}/rerun`;
    return this.#post(path, { afterStep: AFTER_STEP }, ANSWER);
  }

  get lastRunId(): string {
    return this.#connection.runId ?? '';
  }

  close(): void {
    this.#connection.close();
  }

  #post(path: string, body: object, order: Order): Promise<number> {
    const text = JSON.stringify(body);
    const head = `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${this.#order.apiKey}\r\n`;
    const request = `${head}content-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`;
    return this.#connection.ask(request, order, null);
  }
}

async function alternate(caller: Caller, original: string, pairs: number) {
  const times = { plain: [] as number[], rerun: [] as number[] };
  for (let pair = 0; pair < pairs; pair += 1) {
    times.plain.push(await caller.complete(ANSWER));
    times.rerun.push(await caller.rerun(original));
  }
  return times;
}

const tenth = (values: readonly number[]) =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 10)] ?? 0;

const rounds = Number(options.rounds);
const provider = options['in-process'] ? null : await startProvider();
const measured: Readonly<Record<'plainMs' | 'rerunMs' | 'ratio' | 'ratioOfTenths', number>>[] = [];
{
  await using contestant = await startContestant('ours', { members: 1, providerPort: provider?.port ?? null });
  const caller = new Caller(contestant);
  await caller.complete(LONG);
  const original = caller.lastRunId;
  await alternate(caller, original, WARM_UP);
  for (let round = 1; round <= rounds; round += 1) {
    const { plain, rerun } = await alternate(caller, original, Number(options.runs));
    const [plainMs, rerunMs] = [median(plain), median(rerun)];
    measured.push({ plainMs, rerunMs, ratio: rerunMs / plainMs, ratioOfTenths: tenth(rerun) / tenth(plain) });
    process.stderr.write(`round ${round} of ${rounds}: ${plainMs.toFixed(2)} ms, ${rerunMs.toFixed(2)} ms\n`);
  }
  caller.close();
}
provider?.stop();

const figure = (name: keyof (typeof measured)[number]) => median(measured.map((round) => round[name]));
const table = grid(
  ['first token', 'plain run, ms', 'rerun, ms', 'ratio', 'fastest tenth'],
  [
    [
      'median',
      ...[figure('plainMs'), figure('rerunMs')].map((ms) => ms.toFixed(2)),
      ...[figure('ratio'), figure('ratioOfTenths')].map((ratio) => `${ratio.toFixed(2)} ×`),
    ],
  ],
);
process.stdout.write(`${table}\n${JSON.stringify({ rounds, inProcess: options['in-process'], measured })}\n`);
if (options['update-docs']) writeDocsSection('reruns', 'npm run bench -- reruns', table);
