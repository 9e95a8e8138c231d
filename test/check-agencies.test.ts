import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { AgenciesFolder } from './support/agencies-folder.ts';
import { CliServer, folderOf, runwire } from './support/cli-process.ts';
import { ONE_AGENCY } from './support/one-agency.ts';

test('runwire agencies check prints the faults of a folder and exits with 1', async () => {
  using folder = new AgenciesFolder({
    'bad/agency.yaml': 'name: Bad\nagents:\n  - { name: A, instructions: Help., tool: x }\n',
    'code/agency.ts': ONE_AGENCY.typescript['agency.ts'] ?? '',
    'code/tools.ts': ONE_AGENCY.typescript['tools.ts'] ?? '',
    'code/shared.md': 'Shared.',
    '.git/config': '',
  });
  const all = await runwire(['agencies', 'check', folder.path]);
  assert.equal(
    all.stdout,
    'bad/agency.yaml:3:37: `tool` is not a field of an agent; did you mean `tools`?\ncode: ok (typescript, 3 agents)\n',
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

test('the start prints the agencies of the folder, and what is wrong with a broken one', async (t) => {
  using folder = new AgenciesFolder({
    'bad/agency.yaml': 'name: Bad\nagents:\n  - { name: A, instructions: Help., tool: x }\n',
    'good/agency.yaml': 'name: Good\nagents:\n  - { name: A, instructions: Help. }\n',
  });
  const env = { RUNWIRE_API_KEY: 'k'.repeat(40), RUNWIRE_AGENCIES_DIR: folder.path };
  await using server = await CliServer.start({ cwd: folderOf(t), env });
  const sentence = 'bad/agency.yaml:3:37: `tool` is not a field of an agent; did you mean `tools`?';
  const printed = `Agencies in ${folder.path}: bad, good\nThe agency bad is broken: ${sentence}\n`;
  assert.ok(server.stdout.includes(printed), server.stdout);
  const inside = { ...env, RUNWIRE_AGENCIES_DIR: join(folder.path, 'good') };
  const refused = await runwire(['serve'], { env: { ...inside, PORT: '0', RUNWIRE_DATA_DIR: folderOf(t) } });
  assert.deepEqual(
    [refused.code, refused.stderr],
    [
      1,
      `RUNWIRE_AGENCIES_DIR is \`${inside.RUNWIRE_AGENCIES_DIR}\`, which is an agency itself; set it to the folder above, \`${folder.path}\`.\n`,
    ],
  );
});
