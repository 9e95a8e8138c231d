import assert from 'node:assert/strict';
import { chmodSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { defineAgency, defineAgent } from '@runwire/agency';
import { startTestServer } from '@runwire/test-kit';
import { withoutNamespaces } from '@runwire/test-kit/without-namespaces.ts';
import { cites } from '../requirements/cite.ts';
import { CliServer, getFolder, run, runwire, serve } from './support/cli-process.ts';
import { listSamples } from './support/doc-samples.ts';
import { ScriptedServer } from './support/scripted-server.ts';
import { missingBubblewrap } from './support/services.ts';

const missing = await missingBubblewrap();

const shown = async (env: Readonly<Record<string, string>>) => {
  await using server = await startTestServer({ env });
  const { body } = await server.api.as(null).get('/readyz');
  return body.sandbox;
};

test('the sample of the docs is the answer of the server', { skip: missing ?? false }, async () => {
  const [sample = ''] = listSamples('docs/sandbox.md', 'json');
  assert.deepEqual(JSON.parse(sample).sandbox, await shown({ RUNWIRE_SANDBOX: 'bubblewrap' }));
});

test('auto uses bubblewrap if it works', { skip: missing ?? false }, async (t) => {
  cites(t, 'agents-15-auto');
  const sandbox = { kind: 'bubblewrap', proc: true, memory: 'watch' };
  assert.deepEqual(await shown({ RUNWIRE_SANDBOX: 'auto' }), sandbox);
  assert.deepEqual(await shown({ RUNWIRE_SANDBOX: '' }), sandbox);
});

test('each sandbox can be chosen, and readiness shows it', async (t) => {
  cites(t, 'agents-15-readyz', 'contract-1-sandbox');
  const program = join(getFolder(t), 'engine');
  writeFileSync(program, '#!/bin/sh\nsed "s#/app/mnt#$1#g" | bash\n');
  chmodSync(program, 0o755);
  assert.deepEqual(await shown({ RUNWIRE_SANDBOX: 'off' }), { kind: 'off' });
  assert.deepEqual(await shown({ RUNWIRE_SANDBOX: 'just-bash' }), { kind: 'just-bash' });
  assert.deepEqual(await shown({ RUNWIRE_SANDBOX: `exec:${program}` }), { kind: 'exec' });
});

test('the start prints the sandbox, and its trial leaves no files', { skip: missing ?? false }, async (t) => {
  const folder = getFolder(t);
  // Commands have a user of their own, which must be able to enter it.
  chmodSync(folder, 0o755);
  {
    await using server = await CliServer.start({ env: { RUNWIRE_DATA_DIR: join(folder, 'data'), TMPDIR: folder } });
    assert.match(server.stdout, /^Sandbox: bubblewrap$/m);
  }
  assert.deepEqual(readdirSync(folder), ['data']);
});

test('a sandbox that cannot run refuses the start with one sentence', async (t) => {
  cites(t, 'agents-15-refused-start');
  const program = join(getFolder(t), 'broken');
  writeFileSync(program, '#!/bin/sh\necho no engine here\nexit 1\n');
  chmodSync(program, 0o755);
  const sandbox = `exec:${program}`;
  const env = { PORT: '0', RUNWIRE_DATA_DIR: join(getFolder(t), 'data'), RUNWIRE_SANDBOX: sandbox };
  const { code, stderr } = await runwire(['serve'], { env });
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^RUNWIRE_SANDBOX is `exec:[^`]+`, which cannot run here \(a trial printed `no engine here` .*\.\n$/,
  );
});

test('without namespaces, auto uses just-bash', async (t) => {
  cites(t, 'agents-15-auto');
  const env = { RUNWIRE_DATA_DIR: getFolder(t), RUNWIRE_SANDBOX: 'auto' };
  await using server = await CliServer.start({ env }, withoutNamespaces(serve));
  assert.match(server.stdout, /^Sandbox: just-bash, .*; bubblewrap cannot run here \(.+\)$/m);
  const { body } = await server.api(null).get('/readyz');
  assert.deepEqual(body.sandbox, { kind: 'just-bash' });
});

test('without namespaces, bubblewrap refuses the start', { skip: missing ?? false }, async (t) => {
  const env = { PORT: '0', RUNWIRE_DATA_DIR: join(getFolder(t), 'data'), RUNWIRE_SANDBOX: 'bubblewrap' };
  const [program, ...args] = withoutNamespaces(serve);
  const { code, stderr } = await run(program, args, { env });
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^RUNWIRE_SANDBOX is `bubblewrap`, which cannot run here \(bwrap: .*namespace.*\); fix this, .*\.\n$/,
  );
});

const worker = defineAgent({ name: 'Worker', description: 'Works.', instructions: 'Work.', sandbox: true });
const work = defineAgency({ name: 'Work', agents: [worker] });

test('a command waits for its slot before its files are copied, and has the limits of the settings', async (t) => {
  cites(t, 'agents-15-settings');
  const points: string[] = [];
  const env = {
    RUNWIRE_SANDBOX: 'auto',
    RUNWIRE_SANDBOX_SLOTS: '1',
    RUNWIRE_SANDBOX_SECONDS: '47',
    RUNWIRE_SANDBOX_MEMORY_MIB: '300',
    RUNWIRE_SANDBOX_PROCESSES: '30',
    RUNWIRE_SANDBOX_FILE_MIB: '3',
  };
  await using rig = await ScriptedServer.start({ agencies: { work }, env, waitAt: (point) => points.push(point) });
  const apiIntegrationId = await rig.integration({ agency: 'work' });
  const { call, reader } = await rig.hold({ apiIntegrationId, message: 'Do it' });
  const shown = call.request.tools.find(({ name }) => name === 'run_command');
  assert.match(JSON.stringify(shown?.inputSchema), /ended and changes nothing; 47 if not given/);
  assert.match(
    shown?.description ?? '',
    missing === null ? /The sandbox is bubblewrap/ : /no python3, node or sqlite3/,
  );
  const commands = [0, 1, 2];
  for (const index of commands) {
    const command = `printf ${index} > ${index}; ulimit -f -u -v`;
    await call.toolCall(`call_${index}`, 'run_command', JSON.stringify({ command }));
  }
  await call.end();
  const next = await rig.controller.nextCall();
  const output = next.request.prompt.at(-1);
  await next.end();
  assert.ok(output?.kind === 'tool_output');
  if (missing === null) {
    for (const limit of [/file size .* 3072$/m, /user processes .* 30$/m, /virtual memory .* 614400$/m]) {
      assert.match(output.output, limit);
    }
  }
  await reader.whole();
  const ofCommands = points.filter((point) => /^command-(stage\.before|bytes\.after)$/.test(point));
  assert.deepEqual(
    ofCommands,
    commands.flatMap(() => ['command-stage.before', 'command-bytes.after']),
  );
});

test('the program of exec: gets the limits of the settings', async (t) => {
  cites(t, 'agents-15-exec', 'agents-15-settings');
  const program = join(getFolder(t), 'engine');
  writeFileSync(program, '#!/bin/sh\nsed "s#/app/mnt#$1#g" | bash\n');
  chmodSync(program, 0o755);
  const env = {
    RUNWIRE_SANDBOX: `exec:${program}`,
    RUNWIRE_SANDBOX_SECONDS: '47',
    RUNWIRE_SANDBOX_MEMORY_MIB: '300',
    RUNWIRE_SANDBOX_PROCESSES: '30',
    RUNWIRE_SANDBOX_FILE_MIB: '3',
  };
  await using rig = await ScriptedServer.start({ agencies: { work }, env });
  const apiIntegrationId = await rig.integration({ agency: 'work' });
  const { call, reader } = await rig.hold({ apiIntegrationId, message: 'Do it' });
  await call.toolCall('call_1', 'run_command', '{"command":"env | grep ^RUNWIRE | sort"}');
  await call.end();
  const next = await rig.controller.nextCall();
  const output = next.request.prompt.at(-1);
  await next.end();
  assert.ok(output?.kind === 'tool_output');
  assert.deepEqual(
    output.output.match(/^RUNWIRE_.*$/gm),
    Object.entries(env)
      .slice(1)
      .map(([name, value]) => `${name}=${value}`)
      .sort(),
  );
  await reader.whole();
});
