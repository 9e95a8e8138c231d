import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readVersions } from '../scripts/release/versions.ts';
import { root } from './support/cli-process.ts';
import { listSamples, run } from './support/doc-samples.ts';
import { MYPY, missingServices, PYTHON } from './support/services.ts';

/* The Python client as people install it, without a network, and its types. */

const folder = mkdtempSync(join(tmpdir(), 'runwire-python-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const [missing] = await missingServices(['python', 'pip', 'mypy']);

test('installs without a network, and its samples have right types', { skip: missing ?? false }, async () => {
  const [install = ''] = listSamples('docs/client-python.md', 'sh');
  const [, , source = ''] = /^pip install (\.\/)?(\S+)$/m.exec(install) ?? [];
  const target = join(folder, 'installed');
  const quiet = ['--no-index', '--quiet', '--disable-pip-version-check', '--root-user-action=ignore'];
  await run(PYTHON, ['-m', 'pip', 'install', ...quiet, '--target', target, join(root, source)]);
  const env = { PYTHONPATH: target, MYPYPATH: target };
  const version = 'import importlib.metadata, runwire; print(importlib.metadata.version("runwire"), runwire.__file__)';
  const { stdout } = await run(PYTHON, ['-c', version], { cwd: folder, env });
  assert.equal(stdout, `${readVersions(root)['package.json']} ${join(target, 'runwire/__init__.py')}\n`);

  const samples = join(folder, 'samples.py');
  writeFileSync(samples, listSamples('docs/client-python.md', 'python').join('\n'));
  writeFileSync(join(folder, 'wrong.py'), 'from runwire import Runwire\nRunwire("http://x", "k").run(5).txt()\n');
  const check = (...files: string[]) =>
    run(MYPY, ['--strict', '--cache-dir=/dev/null', ...files], { cwd: folder, env });
  await check(join(target, 'runwire'), samples);
  await assert.rejects(check('wrong.py'), ({ stdout: found }) => {
    assert.match(found, /has incompatible type "int"; expected "str"/);
    assert.match(found, /"Run" has no attribute "txt"/);
    return true;
  });
});
