import { type ModelCall, Rig } from '@runwire/test-kit';
import { AgenciesFolder } from '../test/support/agencies-folder.ts';
import { median } from './phases.ts';

/*
 * Measures commands of an agent in this machine's sandbox, each from its start until its step is stored: an empty
 * command in an empty folder, and one in a folder with 1 000 files and 20 MB. Prints medians in milliseconds.
 */

const COMMANDS = 21;
const FILES = { count: 1000, bytes: 20_000 };
const FIELDS = { apiIntegrationId: 'commands', agency: 'work', fileAccess: 'all' };
const AGENCY = 'name: Work\nagents:\n  - { name: Worker, description: Works., instructions: Work., sandbox: true }\n';

using folder = new AgenciesFolder({ 'work/agency.yaml': AGENCY });
await using rig = await Rig.start({ env: { RUNWIRE_AGENCIES_DIR: folder.path, RUNWIRE_SANDBOX: 'auto' } });
await rig.prepare(FIELDS);

/** Resolves to the step's milliseconds. */
async function run(input: { readonly command: string; readonly folder?: string }): Promise<number> {
  rig.model.onCall = async (call: ModelCall) => {
    if (call.request.prompt.at(-1)?.kind === 'tool_output') await call.text('Done.');
    else await call.toolCall('call_1', 'run_command', JSON.stringify(input));
    await call.end();
  };
  const reader = await rig.api().complete({ apiIntegrationId: FIELDS.apiIntegrationId, message: 'Go.' });
  await reader.over;
  const runId = String(reader.headers['x-run-id']);
  const { items } = (await rig.api().get(`${rig.path}/runs/${runId}/steps`)).body;
  const step = items.find(({ kind }: { readonly kind: string }) => kind === 'tool');
  if (step?.status !== 'completed') throw new Error(`The command failed: ${JSON.stringify(step)}`);
  return Date.parse(step.completedAt) - Date.parse(step.startedAt);
}

async function computeMedian(input: Parameters<typeof run>[0], times: number): Promise<number> {
  const all: number[] = [];
  for (let n = 0; n < times; n += 1) all.push(await run(input));
  return median(all);
}

const empty = await computeMedian({ command: 'true', folder: '/app/mnt/empty' }, COMMANDS);
const write = `for n in $(seq ${FILES.count}); do head -c ${FILES.bytes} /dev/urandom > f$n; done`;
const published = await run({ command: write, folder: '/app/mnt/full' });
const staged = await computeMedian({ command: 'true', folder: '/app/mnt/full' }, 5);
const { sandbox } = (await rig.api().get('/readyz')).body;
process.stdout.write(
  `${sandbox.kind}: empty command ${empty} ms; 1 000 files and 20 MB: written and published ${published} ms, staged ${staged} ms\n`,
);
