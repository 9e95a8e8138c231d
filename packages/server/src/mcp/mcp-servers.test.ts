import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { ToolCall } from '@runwire/agency';
import type { McpAddress, ReadVariable } from '@runwire/mcp-sessions';
import { SCRIPTED_MCP } from '@runwire/test-kit/scripted-mcp-program.ts';
import { cites } from '../../../../requirements/cite.ts';
import type { McpServer } from '../agent/mcp-port.ts';
import { createLogger } from '../telemetry/logger.ts';
import { McpServers } from './mcp-servers.ts';

const program = (...options: readonly string[]): McpAddress => ({
  kind: 'stdio',
  command: process.execPath,
  args: [SCRIPTED_MCP, ...options],
  env: {},
  cwd: null,
  secrets: [],
});

const server = (more: Partial<McpServer> = {}): McpServer => ({
  name: 'one',
  prefix: 'one',
  tools: null,
  repeatable: [],
  approval: [],
  isPerRun: false,
  isFilled: false,
  silenceMs: 5000,
  address: () => program(),
  ...more,
});

const open = (variable: ReadVariable = () => null) =>
  new McpServers({
    variable,
    askForeign: () => assert.fail('no foreign address'),
    logger: createLogger('silent'),
  });
const about = async () => ({ date: '2026-11-17', member: null, userContext: undefined, state: {} });
const call = (abortSignal: AbortSignal, progress: ToolCall['progress'] = () => {}): ToolCall => ({
  idempotencyKey: 'run/call',
  callId: 'call',
  userContext: undefined,
  member: null,
  abortSignal,
  progress,
  toolCallId: 'call',
  messages: [],
  context: undefined,
  experimental_context: undefined,
  state: { get: () => undefined, set: () => {} },
  approval: null,
});

test('read-only and listed tools are repeatable, and all runs get the same list', async (t) => {
  cites(t, 'agents-13-repeatable');
  await using mcp = open();
  const servers = [server({ repeatable: ['about'], tools: ['echo', 'about', 'die'] })];
  mcp.use([{ agency: 'a', servers }]);
  const { signal } = new AbortController();
  const first = mcp.openRun('a');
  const { tools, shown } = await first.tools(servers, new Set(), about, signal);
  assert.deepEqual(
    tools.map(({ name, repeatable }) => [name, repeatable]),
    [
      ['one_echo', true],
      ['one_about', true],
      ['one_die', false],
    ],
  );
  const second = mcp.openRun('a');
  assert.equal((await second.tools(servers, new Set(), about, signal)).shown, shown);
  first.release();
  second.release();
});

test('progress of a call is passed on', async () => {
  await using mcp = open();
  const servers = [server({ isPerRun: true })];
  const heard: unknown[] = [];
  const run = mcp.openRun('a');
  const { signal } = new AbortController();
  const { tools } = await run.tools(servers, new Set(), about, signal);
  const tool = tools.find(({ name }) => name === 'one_progress');
  const shown = call(signal, (text) => heard.push(text));
  assert.equal((await tool?.call({ times: 3, everyMs: 1000 }, shown, ''))?.text, 'done');
  // The SDK drops a progress that arrives together with the result.
  assert.deepEqual(heard.slice(0, 2), ['part 1', 'part 2']);
  run.release();
});

test('an aborted call rejects, and the session stays usable', async () => {
  await using mcp = open();
  const servers = [server()];
  const run = mcp.openRun('a');
  const { tools } = await run.tools(servers, new Set(), about, new AbortController().signal);
  const byName = (name: string) => tools.find((tool) => tool.name === name);
  const stop = new AbortController();
  const hung = byName('one_hang')?.call({}, call(stop.signal), '');
  stop.abort();
  await assert.rejects(async () => hung, /cancelled/);
  const next = await byName('one_echo')?.call({ text: 'x' }, call(new AbortController().signal), '');
  assert.equal(next?.text, 'x');
  run.release();
});

test('a server whose first try has not ended is not started again while the node stops', async () => {
  let starts = 0;
  const mcp = open((name) => {
    // Each start of a program asks for this variable once.
    if (name === 'PATH') starts += 1;
    return null;
  });
  mcp.use([{ agency: 'a', servers: [server({ address: () => program('--silent') })] }]);
  const problems = mcp.firstProblems();
  while (starts === 0) await setTimeout(10);
  await mcp[Symbol.asyncDispose]();
  await Promise.all(problems);
  // A new session would load its module and start the program.
  await setTimeout(200);
  assert.equal(starts, 1);
});
