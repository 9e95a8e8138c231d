import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { ScriptedMcpHttp, TEST_API_KEY } from '@runwire/test-kit';
import { count, plantedFault, scale } from '@runwire/test-kit/scale.ts';
import {
  expectAtLeast,
  expectAtMost,
  expectEqual,
  Shortfall,
  until,
  WAIT_MS,
  within,
} from '@runwire/test-kit/shortfall.ts';
import { everything, filesystem, mcpAgency, scripted, scriptedBelowShell } from './support/mcp-agency.ts';
import { cpuPerStep, stdioCallMs } from './support/mcp-figures.ts';
import { EverythingByHttp, HUNG_LIMIT_MS, McpStage, processesWith, timed, WAIT_LIMIT_MS } from './support/mcp-stage.ts';

/*
 * Agents use real MCP servers and a server that misbehaves on demand. Servers are killed during a call, hang, restart, are
 * silent, print garbage, and send large results and lists. Every run must complete, and no process of a server may be left.
 */

const TEN_MEGABYTES = 10_000_000;
const MANY_TOOLS = 5000;
/** Tools of the scripted server that are not left out. */
const SCRIPTED_TOOLS = 12;
/** A start reads the agencies and opens the store; it waits for no MCP server. */
const START_LIMIT_MS = 20_000;
const LEFT_LIMIT_MS = 15_000;
const MAX_STEP_MS = 3;

/** In the environment of every program, so that its processes are found after the end of the server. */
const mark = `mark-${randomUUID()}`;
const planted = `planted-${randomUUID()}`;
const marked = (fields: string, more = '') => `${fields}, env: { MCP_MARK: ${mark}${more} }`;

const SECRETS = { SERVER_SECRET: planted, PGPASSWORD: `${planted}-2`, SERVICE_TOKEN: `${planted}-3` };

function expectMatch(what: string, found: string | undefined, pattern: RegExp): void {
  if (!pattern.test(found ?? '')) throw new Shortfall(`${what}: expected ${pattern}, found ${found?.slice(0, 400)}.`);
}

/** A server that never answers and a program that does not exist: runs wait at most 5 s and have the other tools. */
async function absent(stage: McpStage): Promise<void> {
  await stage.connected('absent', 'good');
  const held = await stage.hold('absent');
  expectEqual('tools of servers that do not answer', held.tools.filter((name) => !name.startsWith('good_')).length, 0);
  expectEqual('absent: output', await stage.outputs(held, ['good_echo', { text: 'x' }]), ['x']);
  const states = (await stage.states('absent')).map(({ state }) => state);
  expectEqual('absent: connected servers', states.filter((state) => state === 'connected').length, 1);
}

/** Three real servers in one run. Resolves to how many secrets of the server `get-env` shows. */
async function real(stage: McpStage): Promise<number> {
  await stage.connected('real', 'every', 'docs', 'web');
  const [echo, sum, text, web, env = ''] = await stage.run(
    'real',
    ['every_echo', { message: 'Hello' }],
    ['every_get-sum', { a: 2, b: 40 }],
    ['docs_read_text_file', { path: 'a.txt' }],
    ['web_echo', { message: 'Hello' }],
    ['every_get-env', {}],
  );
  expectEqual('real: outputs', [echo, text, web], ['Echo: Hello', 'Forty-two.', 'Echo: Hello']);
  expectMatch('real: sum', sum, /\b42\b/);
  expectMatch('real: the variable of the agency in get-env', env, new RegExp(mark));
  const secrets = [...Object.values(SECRETS), TEST_API_KEY, stage.rig.dataDir];
  const found = secrets.filter((secret) => env.includes(secret));
  return expectEqual('planted secrets in get-env', found.length, 0);
}

/** Both forms of `server-everything` are killed with SIGKILL while a call reports progress. */
async function killed(stage: McpStage, web: EverythingByHttp): Promise<void> {
  const kills = {
    every: async () => {
      const programs = processesWith(`${mark}-killed`);
      for (const { pid } of programs) process.kill(pid, 'SIGKILL');
      expectEqual('processes of server-everything', programs.length, 1);
    },
    web: () => web.kill(),
  };
  for (const [server, kill] of Object.entries(kills)) {
    const held = await stage.hold('real');
    const input = { duration: 600, steps: 3000 };
    const outputs = stage.outputs(
      held,
      [`${server}_trigger-long-running-operation`, input],
      ['docs_list_allowed_directories', {}],
    );
    await within(`${server}: progress of a call`, WAIT_MS, held.reader.untilText('"tool_progress"'));
    await kill();
    const [lost, other] = await outputs;
    expectMatch(`${server}: output of the call`, lost, /was lost during the call, which may have taken effect/);
    expectMatch(`${server}: output of another server`, other, /files/);
  }
  await web.startAgain();
  await stage.connected('real', 'every', 'web');
  const again = { message: 'again' };
  expectEqual('outputs after a kill', await stage.run('real', ['every_echo', again], ['web_echo', again]), [
    'Echo: again',
    'Echo: again',
  ]);
}

/** A restarted server knows no session of before; an expired session is refused. Each call is executed once. */
async function restarted(stage: McpStage, web: EverythingByHttp, http: ScriptedMcpHttp): Promise<void> {
  await web.startAgain();
  expectEqual('output after a restart', await stage.run('real', ['web_echo', { message: 'new' }]), ['Echo: new']);
  await stage.connected('hostile', 'http');
  const before = http.script.calls.length;
  for (const text of ['a', 'b', 'c']) {
    http.expire();
    expectEqual('output after a refused session', await stage.run('hostile', ['http_echo', { text }]), [text]);
  }
  expectEqual('calls of refused sessions', http.script.calls.length - before, 3);
  await http.stop();
  await http.listen();
  expectEqual('output after a restart', await stage.run('hostile', ['http_echo', { text: 'd' }]), ['d']);
}

/** Resolves to the milliseconds of the slowest hung call, and of a call of a server that is not connected. */
async function late(stage: McpStage, http: ScriptedMcpHttp): Promise<Record<string, number>> {
  await stage.connected('hostile', 'one', 'http');
  let hungMs = 0;
  for (const tool of ['one_hang', 'http_hang']) {
    const held = await stage.hold('hostile');
    const ms = await timed(async () => {
      const [hung] = await stage.outputs(held, [tool, {}]);
      expectMatch(`${tool}: output`, hung, /did not finish within its time limit/);
    });
    hungMs = Math.max(hungMs, expectAtMost(`${tool}: milliseconds`, ms, HUNG_LIMIT_MS));
  }
  await http.stop();
  const held = await stage.hold('hostile');
  const awayMs = await timed(async () => {
    const [away] = await stage.outputs(held, ['http_echo', { text: 'x' }]);
    expectMatch('output of a server that is away', away, /is not connected|was lost/);
  });
  expectAtMost('milliseconds of a call of a server that is away', awayMs, WAIT_LIMIT_MS);
  expectAtLeast('tools of a server that is away', held.tools.filter((name) => name.startsWith('http_')).length, 12);
  await http.listen();
  // The pauses between tries have grown, and the call does not wait for them.
  expectEqual('output of a server that is back', await stage.run('hostile', ['http_echo', { text: 'y' }]), ['y']);
  return { hung_call_ms: hungMs, away_call_ms: awayMs };
}

async function hostile(stage: McpStage): Promise<void> {
  const [died] = await stage.run('hostile', ['one_die', {}]);
  expectMatch('output of a server that died', died, /was lost during the call.*SIGKILL/);
  const [garbage, echo] = await stage.run('hostile', ['one_garbage', {}], ['one_echo', { text: 'x' }]);
  expectEqual('outputs beside garbage', [garbage, echo], ['after garbage', 'x']);
  for (const tool of ['one_big', 'http_big']) {
    const [big = ''] = await stage.run('hostile', [tool, { characters: TEN_MEGABYTES }]);
    expectMatch(`${tool}: output`, big, new RegExp(`^x{40000}\\n\\[The output has ${TEN_MEGABYTES} characters`));
  }
}

/** 5 000 tools, of which one is called, and one more that appears during a run: the next run has it. */
async function crowd(stage: McpStage): Promise<number> {
  await stage.connected('crowd', 'one');
  const held = await stage.hold('crowd');
  expectEqual('tools', held.tools.length, MANY_TOOLS + SCRIPTED_TOOLS);
  await held.call.toolCall('call_change', 'one_change', '{}');
  await held.call.end();
  const call = await within('next model call', WAIT_MS, stage.rig.model.nextCall());
  expectEqual('tools of a run during which the list changed', call.request.tools.length, held.tools.length);
  const last = `one_extra_${MANY_TOOLS - 1}`;
  await stage.outputs({ ...held, call }, [last, {}]);
  await until('changed list', async () => (await stage.states('crowd'))[0]?.tools === held.tools.length + 1);
  const next = await stage.hold('crowd');
  expectEqual('tools of the next run', next.tools.length, held.tools.length + 1);
  expectEqual('output of the new tool', await stage.outputs(next, [`one_extra_${MANY_TOOLS}`, {}]), [
    `called extra_${MANY_TOOLS}`,
  ]);
  return next.tools.length;
}

/** Two servers with equal tools and no prefix: every tool has its own name and reaches its own server. */
async function equalNames(stage: McpStage): Promise<void> {
  await stage.connected('equal', 'one', 'two');
  const held = await stage.hold('equal');
  expectEqual('different names', new Set(held.tools).size, 2 * SCRIPTED_TOOLS);
  const abouts = held.tools.filter((name) => name.startsWith('about'));
  expectEqual('tools `about`', abouts.length, 2);
  const outputs = await stage.outputs(held, ...abouts.map((name) => [name, {}] as const));
  const pids = outputs.map((output) => JSON.parse(output).pid as number);
  expectEqual('servers that answered', new Set(pids).size, 2);
}

/** Stops and kills the server. Resolves to how many processes it had. */
async function leftovers(stage: McpStage): Promise<number> {
  await stage.connected('deaf', 'deaf', 'plain');
  await stage.run('deaf', ['deaf_echo', { text: 'x' }], ['own_echo', { text: 'x' }]);
  const running = expectAtLeast('processes of MCP servers', processesWith(mark).length, 8);
  await within('end of the server', WAIT_MS, stage.rig.server().kill('SIGTERM'));
  expectEqual('processes left after a stop', processesWith(mark).length, 0);
  // A program that ignores the end of its stdin survives the SIGKILL of its server.
  stage.folder.delete('deaf');
  stage.rig.servers.length = 0;
  await stage.rig.add();
  await stage.connected('real', 'every', 'docs');
  await stage.connected('equal', 'one', 'two');
  await stage.rig.server().kill('SIGKILL');
  await until('end of all MCP servers after SIGKILL', () => processesWith(mark).length === 0, {
    limitMs: LEFT_LIMIT_MS,
  });
  return running;
}

test('MCP servers that fail, hang or end disturb no run', async () => {
  const fault = plantedFault();
  // If the proof fails, its server is killed, and programs that ignore the end of their stdin stay.
  using ended = new DisposableStack();
  ended.defer(() => processesWith(mark).forEach(({ pid }) => void process.kill(pid, 'SIGKILL')));
  await using web = await EverythingByHttp.start();
  await using http = await ScriptedMcpHttp.start();
  const one = marked(scripted());
  const agencies = {
    absent: mcpAgency({ silent: marked(scripted('--silent')), missing: 'command: /nowhere', good: one }),
    real: mcpAgency({
      every: marked(everything, '-killed'),
      docs: marked(filesystem('./files')),
      web: `url: "${web.url}"`,
    }),
    hostile: mcpAgency({ one: `${one}, timeoutSeconds: 1`, http: `url: "${http.url}", timeoutSeconds: 1` }),
    crowd: mcpAgency({ one: marked(scripted('--extra', String(MANY_TOOLS))) }),
    equal: mcpAgency({ one: `${one}, prefix: ""`, two: `${one}, prefix: ""` }),
    deaf: mcpAgency({ deaf: marked(scriptedBelowShell('--deaf')), own: `${one}, session: run`, plain: one }),
  };
  const files = { 'real/files/a.txt': 'Forty-two.' };
  await using stage = await McpStage.start(fault, agencies, { env: SECRETS, files });
  expectAtMost('milliseconds of the start', stage.startMs, START_LIMIT_MS);
  await absent(stage);
  const planted_found = await real(stage);
  await killed(stage, web);
  await restarted(stage, web, http);
  const slowest = await late(stage, http);
  await hostile(stage);
  const tools = await crowd(stage);
  await equalNames(stage);
  const processes = await leftovers(stage);
  count({
    ...stage.sums,
    ...slowest,
    start_ms: stage.startMs,
    tools,
    processes,
    left: 0,
    planted_found,
    stdio_call_ms: await stdioCallMs(scale(50, 300)),
    cpu_ms_per_step: expectAtMost('milliseconds of CPU per step with an MCP tool', await cpuPerStep(), MAX_STEP_MS),
  });
});
