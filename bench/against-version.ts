import { join } from 'node:path';
import { parseArgs } from 'node:util';
import * as contestants from './contestants.ts';
import { COUNTED, countRuns } from './counts.ts';
import { chooseColumns } from './metrics.ts';
import { openCheckout } from './open-checkout.ts';
import { median, type PhaseResult, pairedChange, SCENARIOS } from './phases.ts';
import { grid } from './table.ts';

/*
 * Compares this checkout with another one. Both servers run beside each other, and slices of one second alternate: other,
 * this, this, other, … A pair of slices has the same machine load, so its ratio is steadier than either figure. A slice of
 * `slow` is one start of its streams, and a slice of `turns` is all turns of its chats. Both servers are started several
 * times, because the same code is up to 10 % faster or slower in another process.
 */

const STARTS = 4;
/** Slices before the measured ones: a new process needs some seconds until its functions are compiled. */
const WARM_UP_SLICES = 3;

/** In percent. A column that is worse by more fails. */
const MAX_WORSE = 3;

const { values: options } = parseArgs({
  options: {
    against: { type: 'string', default: '' },
    seconds: { type: 'string', default: '120' },
    columns: { type: 'string', default: 'short,single,long' },
  },
});
const { metrics } = chooseColumns(options.columns);
const isChosen = (name: string) => metrics.some(({ phase }) => phase === name);
const slices = (['short', 'single', 'team', 'team single', 'long', 'steps', 'slow', 'turns'] as const).filter(isChosen);
await using checkout = openCheckout(options.against);
const otherModule = join(checkout.folder, 'bench/contestants.ts');
const other: Pick<typeof contestants, 'startContestant'> = await import(otherModule);

const provider = await contestants.startProvider();
const settings = { members: 32, synchronous: 'full', providerPort: provider.port } as const;
const results: Record<'other' | 'this', PhaseResult[]> = { other: [], this: [] };
const counted = COUNTED.filter(({ name }) => isChosen(name));

async function start(side: keyof typeof results): Promise<contestants.Contestant> {
  const server = await (side === 'other' ? other : contestants).startContestant('ours', settings);
  const { apiKey, members, servers } = server.order;
  await contestants.prepareAccounts(`http://127.0.0.1:${servers[0]?.port}`, apiKey ?? '', members);
  return server;
}

async function count(side: keyof typeof results): Promise<void> {
  await using server = await contestants.withCounting(() => start(side));
  results[side].push(...(await countRuns(server, counted)));
}

let rounds = 0;
async function runSlices(): Promise<void> {
  await using otherServer = await start('other');
  await using thisServer = await start('this');
  const slice = async (name: (typeof slices)[number], side: keyof typeof results) => {
    const server = side === 'other' ? otherServer : thisServer;
    return contestants.load(server, [{ ...SCENARIOS[name], name, seconds: 1 }]);
  };
  for (let i = 0; i < WARM_UP_SLICES; i += 1) {
    for (const name of slices) for (const side of ['other', 'this'] as const) await slice(name, side);
  }
  const end = Date.now() + (Number(options.seconds) * 1000) / STARTS;
  do {
    const order = rounds % 2 === 0 ? (['other', 'this'] as const) : (['this', 'other'] as const);
    for (const name of slices) for (const side of order) results[side].push(...(await slice(name, side)));
    rounds += 1;
  } while (Date.now() < end);
}

if (slices.length > 0) for (let i = 0; i < STARTS; i += 1) await runSlices();
if (counted.length > 0) for (const side of ['other', 'this'] as const) await count(side);
provider.stop();

const rows = metrics.flatMap((metric) => {
  const figures = (side: keyof typeof results) =>
    results[side].filter(({ name }) => name === metric.phase).map((result) => result[metric.field]);
  const [before, after] = [figures('other'), figures('this')];
  // The memory of open streams and the start are not compared.
  if (before.length === 0) return [];
  const change = pairedChange(before, after);
  return [{ metric, before, after, change, isWorse: (metric.more === true ? -change : change) > MAX_WORSE }];
});
const cells = rows.map(({ metric: { label, digits }, before, after, change }) => [
  label,
  median(before).toFixed(digits),
  median(after).toFixed(digits),
  `${change > 0 ? '+' : ''}${change.toFixed(1)} %`,
]);
process.stdout.write(`${grid(['', 'other', 'this', 'change'], cells)}
Medians of slices; the change is the median of pairs. Number of pairs: ${rounds}.
`);
for (const { metric, isWorse } of rows) {
  if (!isWorse) continue;
  process.stdout.write(`${metric.label}: worse by more than ${MAX_WORSE} %.\n`);
  process.exitCode = 1;
}
