import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { AgenciesFolder } from './support/agencies-folder.ts';
import { CliServer, getFolder, runwire } from './support/cli-process.ts';
import { until } from './support/eventually.ts';
import { ONE_AGENCY } from './support/one-agency.ts';

const SERVER_FAILURE =
  'the program ended with code 1: No token was found; start `sh` by hand in the folder of the agency to see why, and correct `command`, `args` or `env`.';
const FAILING_SERVER = "mcp: { docs: { command: sh, args: [-c, 'echo No token was found. >&2; exit 1'] } }\n";

test('runwire agencies check prints the faults of a folder and exits with 1', async () => {
  using folder = new AgenciesFolder({
    'bad/agency.yaml': 'name: Bad\nagents:\n  - { name: A, instructions: Help., tool: x }\n',
    'code/agency.ts': ONE_AGENCY.typescript['agency.ts'] ?? '',
    'code/tools.ts': ONE_AGENCY.typescript['tools.ts'] ?? '',
    'code/shared.md': 'Shared.',
    'mcp/agency.yaml': `name: Mcp\n${FAILING_SERVER}agents:\n  - { name: A, instructions: Help. }\n`,
    '.git/config': '',
  });
  const all = await runwire(['agencies', 'check', folder.path]);
  assert.equal(
    all.stdout,
    'bad/agency.yaml:3:37: `tool` is not a field of an agent; did you mean `tools`?\ncode: ok (typescript, 3 agents)\n' +
      `mcp: ok (yaml, 1 agent)\nThe MCP server docs of the agency mcp has a problem: ${SERVER_FAILURE}\n`,
  );
  assert.deepEqual([all.code, all.stderr], [1, '']);
  const one = await runwire(['agencies', 'check', join(folder.path, 'code')]);
  assert.deepEqual([one.code, one.stdout], [0, 'code: ok (typescript, 3 agents)\n']);
});

test('runwire agencies check names a folder that is missing or does not exist', async () => {
  const missing = await runwire(['agencies', 'check']);
  assert.equal(missing.code, 2);
  assert.match(missing.stderr, /^Name a folder\.\n\nUsage: runwire agencies check FOLDER\n/);
  const gone = await runwire(['agencies', 'check', '/no-such-folder']);
  assert.equal(gone.code, 1);
  assert.match(gone.stderr, /^\/no-such-folder is not a folder; name the folder of an agency/);
});

test('the start prints agencies, broken ones, failed MCP servers and an open address', async (t) => {
  using folder = new AgenciesFolder({
    'bad/agency.yaml': 'name: Bad\nagents:\n  - { name: A, instructions: Help., tool: x }\n',
    'good/agency.yaml': `name: Good\nmodel: ollama/x\n${FAILING_SERVER}agents:\n  - { name: A, instructions: Help. }\n`,
  });
  const env = { RUNWIRE_API_KEY: 'k'.repeat(40), RUNWIRE_AGENCIES_DIR: folder.path, HOST: '0.0.0.0' };
  await using server = await CliServer.start({ cwd: getFolder(t), env });
  const sentence = 'bad/agency.yaml:3:37: `tool` is not a field of an agent; did you mean `tools`?';
  const printed = `Agencies in ${folder.path}: bad, good\nThe agency bad is broken: ${sentence}\n`;
  assert.ok(server.stdout.includes(printed), server.stdout);
  assert.doesNotMatch(server.stdout, /offline/, 'no agency uses the offline model');
  const open = /^Runwire \S+ listens on http:\/\/0\.0\.0\.0:\d+\nWarning: every computer that can reach this machine/;
  assert.match(server.stdout, open);
  const failed = `The MCP server docs of the agency good has a problem: ${SERVER_FAILURE}\n`;
  await until(() => server.stdout.includes(failed));
  // The command line shows the same.
  const listed = await runwire(['agencies', 'list', '--url', server.url], { env });
  assert.match(listed.stdout, /^AGENCY +AGENTS +SOURCE +MCP +PROCESS +FAULT\n/);
  assert.match(listed.stdout, /^good +A +yaml +docs: failed +- +-$/m);
  assert.deepEqual(
    [listed.code, listed.stderr],
    [0, `The MCP server docs of the agency good has a problem: ${SERVER_FAILURE}\n`],
  );
  const inside = { ...env, RUNWIRE_AGENCIES_DIR: join(folder.path, 'good') };
  const refused = await runwire(['serve'], { env: { ...inside, PORT: '0', RUNWIRE_DATA_DIR: getFolder(t) } });
  assert.deepEqual(
    [refused.code, refused.stderr],
    [
      1,
      `RUNWIRE_AGENCIES_DIR is \`${inside.RUNWIRE_AGENCIES_DIR}\`, which is an agency itself; set it to the folder above, \`${folder.path}\`.\n`,
    ],
  );
});
