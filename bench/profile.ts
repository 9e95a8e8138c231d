import { mkdtempSync, writeFileSync } from 'node:fs';
import type { Profiler } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type ContestantName, firstMessage, load, startContestant, startProvider } from './contestants.ts';
import { DatabaseMeter, startDurablePostgres } from './database-meter.ts';
import { type Phase, SCENARIOS } from './phases.ts';
import type { ProfileCommand } from './server-process.ts';

/*
 * Profiles a server: `node -C runwire bench/profile.ts short|long|bursts|single|slow [--who floor|durable]`. With
 * `--in-process` the model runs in the server's own process. With `--postgres` it uses PostgreSQL and prints the
 * slowest statements. Prints self times by function and by file, in µs per run (short, single) or token, and writes the
 * profile for the developer tools of Chromium.
 */

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    who: { type: 'string', default: 'ours' },
    top: { type: 'string', default: '40' },
    seconds: { type: 'string', default: '6' },
    'in-process': { type: 'boolean', default: false },
    postgres: { type: 'boolean', default: false },
  },
});

const seconds = Number(options.seconds);
const name = positionals[0] ?? 'short';
const { idle: _, ...scenarios }: Readonly<Record<string, Omit<Phase, 'name' | 'seconds'>>> = SCENARIOS;
const scenario = scenarios[name];
if (scenario === undefined) throw new Error(`There is no scenario ${name}; there are ${Object.keys(scenarios)}.`);

const provider = options['in-process'] ? null : await startProvider();
const who: ContestantName = options.who;
await using postgres = options.postgres ? await startDurablePostgres() : null;
const url = await postgres?.database();
await using contestant = await startContestant(who, {
  ...{ members: 32, providerPort: provider?.port ?? null },
  ...(url === undefined ? {} : { postgres: { url, nodes: 1 } }),
});
const tell = async <T>(command: ProfileCommand): Promise<T> => {
  contestant.process.send(command);
  return firstMessage<T>(contestant.process);
};
const warmUp = scenario.kind === 'paced' ? SCENARIOS.long : scenario;
await load(contestant, [{ ...warmUp, name: 'warm-up', seconds: 3 }]);
await tell('start-profile');
const [result] = await load(contestant, [{ ...scenario, name, seconds }]);
const { profile } = await tell<{ profile: Profiler.Profile }>('stop-profile');

const file = join(mkdtempSync(join(tmpdir(), 'runwire-profile-')), `${who}-${name}.cpuprofile`);
writeFileSync(file, JSON.stringify(profile));

const byFunction = new Map<string, number>();
const byFile = new Map<string, number>();
const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
const parents = new Map(profile.nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node.id])));

function label(id: number): { readonly name: string; readonly path: string } {
  const frame = nodes.get(id)?.callFrame;
  const path = (frame?.url ?? '').replace(/^.*\/(packages|node_modules|bench)\//, '$1/');
  const name = frame?.functionName || '(anonymous)';
  if (path !== '') return { name: `${name} ${path}:${(frame?.lineNumber ?? 0) + 1}`, path };
  // Functions of the runtime mean little without their caller.
  const parent = parents.get(id);
  if (parent === undefined || name.startsWith('(')) return { name, path: name };
  return { name: `${name} ← ${label(parent).name}`, path: name };
}

let busy = 0;
for (const [i, id] of (profile.samples ?? []).entries()) {
  const micros = profile.timeDeltas?.[i + 1] ?? 0;
  const { name: place, path } = label(id);
  if (place === '(idle)') continue;
  busy += micros;
  byFunction.set(place, (byFunction.get(place) ?? 0) + micros);
  byFile.set(path, (byFile.get(path) ?? 0) + micros);
}

const runs = result?.runs ?? 1;
const units = scenario.tokens <= 20 ? runs : runs * scenario.tokens;
const print = (title: string, entries: ReadonlyMap<string, number>, top: number) => {
  process.stdout.write(`\n${title}\n`);
  for (const [label, micros] of [...entries].sort(([, a], [, b]) => b - a).slice(0, top)) {
    const share = ((micros / busy) * 100).toFixed(1).padStart(5);
    process.stdout.write(`${share} %  ${(micros / units).toFixed(3).padStart(8)} µs  ${label}\n`);
  }
};
const unit = scenario.tokens <= 20 ? 'run' : 'token';
process.stdout.write(`${who}, ${name}: ${runs} runs, ${(busy / units).toFixed(2)} µs of the main thread a ${unit}\n`);
print(`Self time by function, µs a ${unit}`, byFunction, Number(options.top));
print(`Self time by file, µs a ${unit}`, byFile, Number(options.top));
if (postgres !== null && url !== undefined) {
  process.stdout.write('\nStatements by the time they took PostgreSQL, the warm-up with them: µs each, calls\n');
  for (const { query, calls, ms } of await new DatabaseMeter(postgres, url).slowest(Number(options.top))) {
    const text = query.replace(/\s+/g, ' ').slice(0, 100);
    process.stdout.write(`${((ms * 1000) / calls).toFixed(1).padStart(8)} µs  ${String(calls).padStart(7)}  ${text}\n`);
  }
}
process.stdout.write(`\n${file}\n`);
provider?.stop();
