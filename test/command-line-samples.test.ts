import assert from 'node:assert/strict';
import { readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { defineAgency, defineAgent, defineTool } from '@runwire/agency';
import { fullTest, startTestServer, TEST_API_KEY } from '@runwire/test-kit';
import { getLeaves } from '../packages/cli/src/command.ts';
import { synopsis } from '../packages/cli/src/help.ts';
import { buildProgram } from '../packages/cli/src/program.ts';
import { CliServer, getFolder, root, run, serve, sourceArguments } from './support/cli-process.ts';
import { listSamples, readPage } from './support/doc-samples.ts';
import { printedCurl } from './support/first-steps.ts';

/* The samples of docs/command-line.md, and the README of a project that `runwire init` makes. */

const page = 'docs/command-line.md';

const refund = defineTool({
  ...{ name: 'refund', description: 'Pays back.', inputSchema: { type: 'object' }, needsApproval: true },
  execute: (_, { approval }) => `refunded: ${approval?.reason}`,
});

/** Pastes a sample into bash. `runwire`, also by `npx` and `npm run`, is the one of this repository. */
async function paste(sample: string, cwd: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
  const runwire = serve
    .slice(0, -1)
    .map((word) => `'${word}'`)
    .join(' ');
  const script = `set -e -o pipefail\nrunwire() { ${runwire} "$@"; }\nnpx() { "$@"; }\n${sample}`;
  const { code, stdout, stderr } = await run('bash', ['-c', script], { cwd, env });
  assert.equal(code, 0, stderr);
  return stdout;
}

test('docs/command-list.md lists every command as the help does', () => {
  const rows = getLeaves(buildProgram({}, '')).map((leaf) => `| \`${synopsis(leaf)}\` | ${leaf.summary()} |`);
  const [, table = ''] = readPage('docs/command-list.md').split('| command | what it does |\n|---|---|\n');
  assert.equal(table.trimEnd(), rows.join('\n'));
});

fullTest('the samples of docs/command-line.md work as pasted', async (t) => {
  const agents = [defineAgent({ name: 'Clerk', description: 'Pays.', instructions: 'Pay.', tools: [refund] })];
  await using server = await startTestServer({ agencies: { shop: defineAgency({ name: 'Shop', agents }) } });
  await server.api.post('/v2/integrations', { apiIntegrationId: 'shop', agency: 'shop' });
  const [project = '', scripts = '', questions = '', chats = '', files = '', doctor = '', completion = ''] =
    listSamples(page, 'sh');
  const folder = getFolder(t);
  assert.match(await paste(project, folder), /^shop: ok \(yaml, 1 agent, 1 eval case\)$/m);
  const env = { RUNWIRE_URL: server.url, RUNWIRE_API_KEY: TEST_API_KEY, RUNWIRE_INTEGRATION: 'demo' };
  const printed = await paste(scripts, folder, env);
  assert.match(readFileSync(join(folder, 'answer.txt'), 'utf8'), /You said: Hello\n$/);
  assert.match(printed, /You said: Summarise this line\.\n[\s\S]*^request: +order-17$[\s\S]*^RUN .*\nrun_/m);
  assert.equal(JSON.parse(readFileSync(join(folder, 'order-17.json'), 'utf8')).status, 'completed');
  const answered = await paste(questions, folder, env);
  assert.match(
    answered,
    /^open questions: refund \{"invoice":"A1","cents":9900\}\n[\s\S]*refunded: Promised by phone\n$/m,
  );
  const listed = await paste(chats, folder, env);
  assert.match(listed, /^CHAT [\s\S]*^CREATED .*\n.*You said: Summarise this line\.\n[\s\S]*^STEP .*\n +1 +Concierge/m);
  assert.match(await paste(files, folder, env), /^\/app\/mnt\/members\/user-42\/list\.txt\n[\s\S]*█/);
  assert.match(readFileSync(join(folder, 'usage.csv'), 'utf8'), /^member,runs,/);
  assert.match(await paste(doctor, folder, { RUNWIRE_SANDBOX: 'off' }), /^ok +sandbox/m);
  assert.match(await paste(`${completion}complete -p runwire`, folder), /-F _runwire runwire/);
});

fullTest('the samples of docs/schedules.md work as pasted', async (t) => {
  await using server = await startTestServer();
  const folder = getFolder(t);
  const env = {
    ...{ RUNWIRE_URL: server.url, RUNWIRE_API_KEY: TEST_API_KEY, RUNWIRE_INTEGRATION: 'demo' },
    ...{ URL: server.url, KEY: TEST_API_KEY },
  };
  const [post = '', create = '', ticks = '', resume = ''] = listSamples('docs/schedules.md', 'sh');
  assert.match(await paste(post, folder, env), /"name":"Weekly","cron":"0 9 \* \* 1"/);
  const created = await paste(create, folder, env);
  const [, scheduleId = ''] = /^schedule: +(sch_\w+)$/m.exec(created) ?? [];
  assert.match(created, /^times: +0 9 \* \* 1 \(Europe\/Berlin\)$/m);
  assert.equal(await paste(ticks.replaceAll('sch_1', scheduleId), folder, env), '');
  assert.match(await paste(resume.replaceAll('sch_1', scheduleId), folder, env), /^state: +active$/m);
});

fullTest('a project of `runwire init` runs by the commands of its own README', async (t) => {
  const folder = join(getFolder(t), 'My Agents');
  await paste(`runwire init '${folder}'`, root);
  assert.equal(statSync(join(folder, 'runwire.env')).mode & 0o777, 0o600);
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  assert.equal(manifest.name, 'my-agents');
  assert.equal(manifest.scripts.start, 'exec runwire serve', 'the server gets the signals of npm');
  const { devDependencies, optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  assert.deepEqual(manifest.optionalDependencies, optionalDependencies);
  for (const [name, version] of Object.entries(manifest.devDependencies)) assert.equal(version, devDependencies[name]);
  const readme = readFileSync(join(folder, 'README.md'), 'utf8');
  const [install, use = '', check, backend] = [...readme.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(
    ([, sample]) => sample,
  );
  assert.deepEqual(
    [install, check, backend],
    ['npm install\nnpm start\n', 'npm run check\nnpm run evals\nnpm test\n', 'npm run backend\n'],
  );
  await using server = await CliServer.start({ cwd: folder });
  assert.ok((await paste(printedCurl(server.stdout), root)).endsWith('event: end\ndata: [DONE]\n\n'));
  const printed = await paste(use, folder, { RUNWIRE_URL: server.url });
  assert.match(printed, /You said: Hello\nThe tool was called\. It returned: \w+day, /);
  assert.match(await paste(manifest.scripts.check, folder), /^helper: ok \(yaml, 1 agent, 1 eval case\)$/m);
  await server.stop();
  // In place of `npm install`.
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const tested = await run(process.execPath, [...sourceArguments, '--test'], { cwd: folder });
  assert.equal(tested.code, 0, tested.stdout);

  for (const name of ['demo', 'My shop']) {
    const { code, stderr } = await run(serve[0] ?? '', [
      ...serve.slice(1, -1),
      'init',
      `${folder}-2`,
      '--agency',
      name,
    ]);
    assert.deepEqual([code, /such as `helper`\.$/m.test(stderr)], [2, true], stderr);
  }
  const again = await run('bash', ['-c', `cd '${folder}' && "$@" init`, 'bash', ...serve.slice(0, -1)]);
  assert.equal(again.code, 1);
  assert.match(again.stderr, /has package\.json, .* already; .* Nothing was written\.$/m);
});
