import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { count, plantedFault, scale } from '@runwire/test-kit/scale.ts';
import { expectAtLeast, expectAtMost, expectEqual, until, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import { findSecrets } from './support/agency-secrets.ts';
import { type BadTool, HARMLESS } from './support/bad-tools.ts';
import { BadToolsStage, countAlive, descendants } from './support/bad-tools-stage.ts';
import { agencyName, BLOCK, HARMFUL, LOOP } from './support/bad-tools-that-end.ts';
import { TokenStream } from './support/token-streams.ts';

/*
 * Tools with the mistakes that people make are called while two other integrations stream tokens; another agency's tools
 * are called too. The server must stay, every call must end with a sentence for the model, and no process may be left.
 */

const SLOWEST_TOKEN_MS = 250;
/** Short, so that blocked processes end within seconds. At full scale one of them has the real limit. */
const SILENCE_MS = 5000;
/** So many agencies have a bad call at the same time. */
const LANES = 2;
/** How long processes may be left after the server has ended. */
const ENDED_LIMIT_MS = 5000;
const GOOD: BadTool = { name: 'add', code: 'return 1 + 2;', output: /^3$/ };

/** One process makes all these calls. */
async function callHarmless(stage: BadToolsStage): Promise<void> {
  await stage.addAgency('harmless', HARMLESS);
  const before = stage.processes('harmless');
  for (const tool of HARMLESS) await stage.call('harmless', tool);
  await stage.callFine('harmless');
  expectEqual('process after calls that do not end it', stage.processes('harmless'), before);
  const lines = stage.rig.server().output.matchAll(/"tool":"unhandled_rejection","callId":"call_[^"]+","runId":"run_/g);
  expectEqual('log lines of an unhandled rejection', [...lines].length, 1);
  const metrics = String((await stage.rig.api().get('/metrics')).body);
  const [, counted] = /^runwire_agency_faults_total\{agency="harmless",kind="rejection"\} (\d+)$/m.exec(metrics) ?? [];
  expectEqual('unhandled rejections in the metrics', Number(counted), 3);
  await stage.removeAgency('harmless');
}

/** The next call of the agency works again. */
async function callHarmful(stage: BadToolsStage, tool: BadTool): Promise<void> {
  const id = agencyName(tool.name);
  await stage.addAgency(id, [tool]);
  await stage.call(id, tool);
  if (tool.startsProcesses) await stage.onlyAgencyProcesses(id);
  await stage.callFine(id, tool.after);
  await stage.removeAgency(id);
}

async function callAll(stage: BadToolsStage, harmful: readonly BadTool[]): Promise<void> {
  const queue = [...harmful];
  const lane = async () => {
    for (let tool = queue.shift(); tool !== undefined; tool = queue.shift()) await callHarmful(stage, tool);
  };
  await Promise.all([callHarmless(stage), ...Array.from({ length: LANES }, lane)]);
}

/** Makes all bad calls beside two streams. */
async function besideStreams(stage: BadToolsStage, harmful: readonly BadTool[]) {
  const { pid: serverPid, gone } = stage.rig.server();
  await stage.rig.prepare({ apiIntegrationId: 'plain', agency: 'test' });
  await stage.addAgency('good', [GOOD]);
  const streams = [
    new TokenStream(stage.runs, { integration: 'plain', serverPid, tokensPerRun: 1000, call: null }),
    new TokenStream(stage.runs, {
      integration: 'good',
      serverPid,
      tokensPerRun: 50,
      call: { tool: 'add', output: '3' },
    }),
  ];
  let deaths = 0;
  void gone.then(() => (deaths += 1));
  const calls = callAll(stage, harmful);
  try {
    await Promise.all([calls, ...streams.map((stream) => stream.during(calls))]);
  } catch (error) {
    // A server that dies is noticed by its clients first.
    await sleep(1000);
    expectEqual('server deaths', deaths, 0);
    throw error;
  }
  const slowestMs = Math.max(...streams.map((stream) => stream.slowestMs));
  const sum = (count: (stream: TokenStream) => number) => streams.reduce((total, stream) => total + count(stream), 0);
  return {
    server_deaths: expectEqual('server deaths', deaths, 0),
    cut_streams: expectEqual(
      'cut streams',
      sum(({ cut }) => cut),
      0,
    ),
    tokens: expectAtLeast(
      'tokens beside the calls',
      sum(({ tokens }) => tokens),
      100,
    ),
    good_calls: expectAtLeast(
      'calls of another agency',
      sum((stream) => stream.calls),
      2,
    ),
    slowest_token_ms: expectAtMost('slowest token, in ms', Math.round(slowestMs), SLOWEST_TOKEN_MS),
    slowest_token_wall_ms: Math.round(Math.max(...streams.map((stream) => stream.slowestWallMs))),
  };
}

/** Stops the server while its agencies have processes. Resolves to how many are left. */
async function stopServer(stage: BadToolsStage): Promise<number> {
  const server = stage.rig.server();
  const processes = descendants(server.pid);
  expectAtLeast('processes of the server', processes.length, 2);
  await within('end of the server', WAIT_MS, server.kill('SIGTERM'));
  stage.rig.servers.length = 0;
  await until('end of all processes after a stop', () => countAlive(processes) === 0, { limitMs: ENDED_LIMIT_MS });
  return countAlive(processes);
}

/** Kills the server while a tool loops. Resolves to the milliseconds until all processes had ended. */
async function killServer(stage: BadToolsStage): Promise<number> {
  const server = await stage.rig.add({ limits: {} });
  await stage.addAgency('loops', [LOOP]);
  const run = await stage.runs.begin('loops', 'Loop.');
  const before = stage.countCalls(LOOP.name);
  await run.modelCall.toolCall('call_1', LOOP.name, '{}');
  await run.modelCall.end();
  await until('call of a tool that loops', () => stage.countCalls(LOOP.name) > before);
  const processes = descendants(server.pid);
  expectAtLeast('processes of the server', processes.length, 3);
  const killedAt = performance.now();
  await server.kill('SIGKILL');
  const areGone = () => countAlive(processes) === 0;
  await until('end of all processes after SIGKILL', areGone, { limitMs: ENDED_LIMIT_MS });
  stage.rig.servers.length = 0;
  return Math.round(performance.now() - killedAt);
}

/** With the real limit of 30 s, code may block for 10 s. */
async function realSilence(stage: BadToolsStage): Promise<void> {
  await stage.rig.add({ limits: {} });
  const loop = { ...LOOP, name: 'real_loop' };
  await stage.addAgency('real', [BLOCK, loop]);
  await stage.call('real', BLOCK);
  const startedAt = performance.now();
  await stage.call('real', loop);
  expectAtLeast('milliseconds of an endless loop', performance.now() - startedAt, 29_000);
  await stage.rig.server().kill('SIGTERM');
  stage.rig.servers.length = 0;
}

test('a bad tool harms only its own run', async () => {
  const fault = plantedFault();
  await using stage = await BadToolsStage.start(fault, SILENCE_MS);
  const harmful = HARMFUL.filter(({ isVariant }) => scale(isVariant !== true, true));
  const streams = await besideStreams(stage, harmful);
  let left = await stopServer(stage);
  if (scale(false, true)) await realSilence(stage);
  const killedMs = await killServer(stage);
  left += expectEqual('processes of agencies that are left', stage.processes(null).length, 0);
  const { kinds, calls, repeated } = stage.sums;
  count({
    kinds: expectAtLeast('kinds of bad tools', kinds, 40),
    calls,
    ...streams,
    repeated: expectEqual('calls that may not be repeated and were', repeated, 0),
    left_processes: left,
    gone_after_kill_ms: killedMs,
    secrets_found: await findSecrets(scale(false, true)),
  });
});
