import { createLogger, type ModelCall } from '@runwire/test-kit';
import { expectEqual, until, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import { median } from '../../bench/phases.ts';
import { cpuMs } from '../../bench/proc.ts';
import type { McpServer } from '../../packages/server/src/agent/mcp-port.ts';
import { McpServers } from '../../packages/server/src/mcp/mcp-servers.ts';
import { everything, mcpAgency } from './mcp-agency.ts';
import { EVERYTHING, McpStage } from './mcp-stage.ts';

/** A run of ten answers of the model, nine of which call a tool. */
const STEPS = 10;
const AT_ONCE = 8;
const WARM_UP_RUNS = 60;
const ROUNDS = 3;
const RUNS_PER_ROUND = 30;

/**
 * The CPU of a server per step of runs of ten steps with an MCP tool, in milliseconds: everything in its process, also the
 * client of the scripted model, but not the program of the MCP server. The rounds' median.
 */
export async function cpuPerStep(): Promise<number> {
  const agency = 'steps';
  await using stage = await McpStage.start(null, { [agency]: mcpAgency({ every: `${everything}, tools: [echo]` }) });
  await stage.connected(agency, 'every');
  const { rig } = stage;
  const answer = async (call: ModelCall) => {
    const calls = call.request.prompt.filter(({ kind }) => kind === 'tool_output').length;
    if (calls < STEPS - 1) await call.toolCall(`call_${calls}`, 'every_echo', '{"message":"Hello"}');
    else await call.text('Done.');
    await call.end();
  };
  const play = async (count: number) => {
    let left = count;
    const one = async () => {
      while (left > 0) {
        left -= 1;
        const reader = await rig.api().complete({ apiIntegrationId: agency, message: 'Hi' });
        await within('end of a run of ten steps', WAIT_MS, reader.over);
        expectEqual('answer of a run of ten steps', reader.answer, 'Done.');
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, one));
  };
  rig.model.onCall = (call) => void answer(call);
  await play(WARM_UP_RUNS);
  const { pid } = rig.server();
  const rounds: number[] = [];
  while (rounds.length < ROUNDS) {
    const before = cpuMs(pid);
    await play(RUNS_PER_ROUND);
    rounds.push((cpuMs(pid) - before) / (RUNS_PER_ROUND * STEPS));
  }
  return shown(median(rounds));
}

const shown = (ms: number) => Math.round(ms * 100) / 100;

/** The median milliseconds of a call of `echo` of `server-everything`, from the tool to its text. */
export async function stdioCallMs(calls: number): Promise<number> {
  const variable = (name: string) => process.env[name] ?? null;
  await using mcp = new McpServers({
    variable,
    askForeign: () => Promise.reject(new Error('Not used.')),
    logger: createLogger('silent'),
  });
  const every: McpServer = {
    name: 'every',
    prefix: 'every',
    tools: ['echo'],
    repeatable: [],
    approval: [],
    isPerRun: false,
    isFilled: false,
    silenceMs: WAIT_MS,
    address: () => ({ kind: 'stdio', command: process.execPath, args: [EVERYTHING], env: {}, cwd: null, secrets: [] }),
  };
  const servers = [every];
  mcp.use([{ agency: 'a', servers }]);
  await until('connection of server-everything', () => mcp.states('a')[0]?.state === 'connected');
  const run = mcp.openRun('a');
  const { signal: abortSignal } = new AbortController();
  const about = async () => ({ date: '2026-11-17', member: null, userContext: undefined, state: {} });
  const { tools } = await run.tools(servers, new Set(), about, abortSignal);
  const times: number[] = [];
  for (let index = 0; index < calls; index += 1) {
    const [callId, nothing] = [`call_${index}`, undefined];
    const call = {
      ...{ idempotencyKey: `run/${callId}`, callId, toolCallId: callId, abortSignal, member: null, messages: [] },
      ...{ userContext: nothing, context: nothing, experimental_context: nothing, progress: () => {}, approval: null },
      state: { get: () => nothing, set: () => {} },
    };
    const startedAt = performance.now();
    const outcome = await tools[0]?.call({ message: 'Hello' }, call, '');
    times.push(performance.now() - startedAt);
    expectEqual('output of a call', outcome?.text, 'Echo: Hello');
  }
  run.release();
  return shown(median(times));
}
