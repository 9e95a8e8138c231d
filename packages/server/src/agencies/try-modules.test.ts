import assert from 'node:assert/strict';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { tryModules } from './try-modules.ts';

test('a module that never ends is stopped', async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'runwire-modules-')));
  try {
    writeFileSync(join(folder, 'loops.ts'), 'while (true);\n');
    writeFileSync(join(folder, 'waits.ts'), 'setInterval(() => {}, 1000);\nawait new Promise(() => {});\n');
    for (const file of ['loops.ts', 'waits.ts']) {
      const failure = await tryModules(folder, [file], 1500);
      assert.equal(failure?.message, 'It did not load within 1.5 seconds; remove what loops or waits.');
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a module that leaves something open is loaded', async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'runwire-modules-')));
  try {
    writeFileSync(join(folder, 'open.ts'), 'setInterval(() => {}, 1000);\nexport default 1;\n');
    assert.equal(await tryModules(folder, ['open.ts'], 10_000), null);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
