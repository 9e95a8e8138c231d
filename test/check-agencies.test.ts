import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { AgenciesFolder } from './support/agencies-folder.ts';
import { runwire } from './support/cli-process.ts';
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
