import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { type ModelCall, Rig, type StreamReader } from '@runwire/test-kit';
import { count, plantedFault } from '@runwire/test-kit/scale.ts';
import { expectAtMost, expectEqual, Shortfall, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import { STARTERS, type Starter, type StarterFlow, starterFolder } from './support/portable-starters.ts';

const MAX_CHANGED_LINES = 30;

/** Counts added and deleted lines. `git` exits with 1 if there are any. */
async function changedLines(name: string): Promise<number> {
  const folders = [starterFolder('original', name), starterFolder('ported', name)];
  const args = ['diff', '--no-index', '--numstat', '--find-renames', ...folders];
  const { stdout } = await promisify(execFile)('git', args).catch((error: { readonly stdout: string }) => error);
  const counts = [...stdout.matchAll(/^(\d+)\t(\d+)\t/gm)];
  if (counts.length === 0) throw new Shortfall(`${name}: git found no changes: ${stdout}`);
  return counts.reduce((sum, [, added, deleted]) => sum + Number(added) + Number(deleted), 0);
}

const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ').trim();

/** Takes the model's next call, and checks that the agent asks it with the original's prompt. */
async function nextCall(rig: Rig, { name, prompts }: Starter, agent: string): Promise<ModelCall> {
  const call = await within(`${name}: call of \`${agent}\``, WAIT_MS, rig.model.nextCall());
  expectEqual(`${name}: prompt of \`${agent}\``, oneLine(call.request.instructions), oneLine(prompts[agent] ?? ''));
  return call;
}

/** The flows to follow, from the default agent, until this one is taken. */
function pathTo(flow: StarterFlow, { flows, entry }: Starter): readonly StarterFlow[] {
  const paths: StarterFlow[][] = flows.filter(({ from }) => from === entry).map((first) => [first]);
  for (const path of paths) {
    if (path.at(-1) === flow) return path;
    const next = flows.filter(({ from }) => from === path.at(-1)?.to && !path.some((taken) => taken.from === from));
    for (const one of next) paths.push([...path, one]);
  }
  throw new Shortfall(`No flows lead to \`${flow.from}\`.`);
}

function toCall({ to, kind }: StarterFlow): readonly [name: string, given: object] {
  if (kind === 'handoff') return [`transfer_to_${to.replaceAll(/\W/g, '_')}`, { recipient_agent: to }];
  return ['send_message', { recipient_agent: to, message: 'Your turn.' }];
}

/** Takes a flow: its recipient must get the word, and the answer must be the last agent's. */
async function takeFlow(rig: Rig, starter: Starter, flow: StarterFlow): Promise<void> {
  const reader = await begin(rig, starter);
  const path = pathTo(flow, starter);
  for (const step of path) {
    const call = await nextCall(rig, starter, step.from);
    const [name, given] = toCall(step);
    await call.toolCall('call_1', name, JSON.stringify(given));
    await call.end();
  }
  const last = await nextCall(rig, starter, flow.to);
  await last.text(`${flow.to} answers.`);
  await last.end();
  if (flow.kind === 'delegate') {
    const back = await nextCall(rig, starter, flow.from);
    const output = back.request.prompt.at(-1);
    expectEqual(
      `${starter.name}: outcome of the message`,
      output?.kind === 'tool_output' && output.output,
      `${flow.to} answers.`,
    );
    await back.text(`${flow.from} answers.`);
    await back.end();
  }
  await finish(reader, starter, `${flow.kind === 'delegate' ? flow.from : flow.to} answers.`);
}

/** Calls a tool that was ported: its output is the one of the original. */
async function useTool(rig: Rig, starter: Starter): Promise<number> {
  const { tool } = starter;
  if (tool === null) return 0;
  const reader = await begin(rig, starter);
  const way = starter.flows.find(({ to }) => to === tool.agent);
  if (tool.agent !== starter.entry && way !== undefined) {
    const call = await nextCall(rig, starter, way.from);
    const [name, given] = toCall(way);
    await call.toolCall('call_1', name, JSON.stringify(given));
    await call.end();
  }
  const call = await nextCall(rig, starter, tool.agent);
  await call.toolCall('call_2', tool.name, JSON.stringify(tool.input));
  await call.end();
  const after = await nextCall(rig, starter, tool.agent);
  const output = after.request.prompt.at(-1);
  expectEqual(
    `${starter.name}: output of \`${tool.name}\``,
    output?.kind === 'tool_output' && output.output,
    tool.output,
  );
  await after.text('Done.');
  await after.end();
  await finish(reader, starter, 'Done.');
  return 1;
}

function begin(rig: Rig, { name, context }: Starter): Promise<StreamReader> {
  return rig.api().complete({ apiIntegrationId: name, message: 'Hello', user_context: context });
}

async function finish(reader: StreamReader, { name }: Starter, answer: string): Promise<void> {
  await within(`${name}: end of the run`, WAIT_MS, reader.over);
  expectEqual(`${name}: answer`, reader.answer, answer);
}

async function port(rig: Rig, starter: Starter): Promise<{ readonly flows: number; readonly tools: number }> {
  const { name } = starter;
  const { body } = await rig.api().get('/v2/agencies?limit=200');
  const listed = body.items.find(({ agency }: { readonly agency: string }) => agency === name);
  expectEqual(`${name}: error`, listed?.error, null);
  const written = ({ from, kind, to }: StarterFlow) => `${from} ${kind} ${to}`;
  expectEqual(`${name}: flows`, listed.flows.map(written).toSorted(), starter.flows.map(written).toSorted());
  // The model of an integration precedes the agency's.
  await rig.prepare({ apiIntegrationId: name, agency: name, model: 'scripted/model' });
  for (const flow of starter.flows) await takeFlow(rig, starter, flow);
  return { flows: starter.flows.length, tools: await useTool(rig, starter) };
}

test('starters of other frameworks run with unchanged prompts', async () => {
  const fault = plantedFault();
  let largest = 0;
  for (const { name } of STARTERS) {
    const lines = expectAtMost(`${name}: changed lines`, await changedLines(name), MAX_CHANGED_LINES);
    console.log(`${name}: ${lines} changed lines`);
    largest = Math.max(largest, lines);
  }
  const env = { RUNWIRE_AGENCIES_DIR: starterFolder('ported', ''), OPENAI_API_KEY: 'unused' };
  await using rig = await Rig.start({ fault, env });
  let [flows, tools] = [0, 0];
  for (const starter of STARTERS) {
    const ported = await port(rig, starter);
    flows += ported.flows;
    tools += ported.tools;
  }
  expectEqual('starters', STARTERS.length, 5);
  count({ starters: STARTERS.length, most_changed_lines: largest, flows, tools });
});
