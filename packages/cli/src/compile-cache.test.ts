import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

test('keeps compiled modules in the folder of its own packages', () => {
  const report = `import m from 'node:module'; process.on('exit', () => console.log(m.getCompileCacheDir()));`;
  const args = ['-C', 'runwire', '--import', `data:text/javascript,${report}`];
  const main = join(import.meta.dirname, 'main.ts');
  // A folder that the operator chose would be kept.
  const { NODE_COMPILE_CACHE: _, ...env } = process.env;
  const printed = execFileSync(process.execPath, [...args, main, '--version'], { encoding: 'utf8', env });
  const [, folder = ''] = printed.split('\n');
  assert.match(folder, /\/node_modules\/\.cache\/runwire\//);
  assert.ok(readdirSync(folder).length > 0);
});
