import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root, sourceArguments } from './support/cli-process.ts';
import { listSamples, PACKAGE_PAGES, run, shownOutput } from './support/doc-samples.ts';

/* Each page of a package has one sample, and then what it prints. test/doc-samples.test.ts compiles the samples. */

test('the samples of packages print what their pages show', async (t) => {
  mkdirSync(join(root, '.work'), { recursive: true });
  const folder = mkdtempSync(join(root, '.work/package-samples-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const page of PACKAGE_PAGES) {
    const [sample = ''] = listSamples(page, 'ts');
    const file = join(folder, `${page.replace(/\W/g, '-')}.ts`);
    writeFileSync(file, sample);
    const { stdout } = await run(process.execPath, [...sourceArguments, file], { cwd: root, timeout: 60_000 });
    assert.equal(stdout, shownOutput(page), page);
  }
});
