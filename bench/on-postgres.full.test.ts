import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { missingService } from '../test/support/services.ts';

const skip = process.platform === 'linux' ? ((await missingService('postgres')) ?? false) : 'CPU is read from /proc';

interface BenchReport {
  readonly columns: readonly string[];
  readonly figures: readonly { readonly name: string; readonly values: readonly (number | null)[] }[];
}

const OF_POSTGRES = [
  'CPU ms a run, PostgreSQL',
  'commits a run',
  'writing transactions a run',
  'statements a run',
  'kB of WAL a run',
  'round trips a run',
];

test('the quick benchmark on PostgreSQL reports every figure of both stores', {
  skip,
}, async () => {
  const args = ['-C', 'runwire', 'bench/main.ts', '--postgres', '--nodes', '2', '--quick'];
  // The benchmark fails if one answer is incomplete.
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 1 << 24 });
  const report = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as BenchReport;
  assert.deepEqual(report.columns, ['embedded', '2 nodes']);
  const figures = new Map(report.figures.map(({ name, values }) => [name, values]));
  const take = (name: string) => {
    const values = figures.get(name);
    assert.ok(values, name);
    figures.delete(name);
    return values;
  };
  const everywhere = ['short', 'long'].flatMap((phase) => [`${phase}: runs/s`, `${phase}: CPU ms a run, servers`]);
  for (const name of [...everywhere, 'single: first token ms']) {
    const values = take(name);
    assert.ok(values.length === 2 && values.every((value) => (value ?? 0) > 0), `${name}: ${values}`);
  }
  for (const phase of ['short', 'long', 'single']) {
    const byFigure = new Map(OF_POSTGRES.map((what) => [what, take(`${phase}: ${what}`)]));
    for (const [what, [embedded, ...nodes]] of byFigure) {
      assert.equal(embedded, null, `${phase}: ${what}`);
      // Such a short phase may cost less than what PostgreSQL did for itself just before.
      const least = what.startsWith('CPU') && phase !== 'short' ? 0 : Number.MIN_VALUE;
      assert.ok(nodes.length === 1 && nodes.every((value) => (value ?? -1) >= least), `${phase}: ${what}: ${nodes}`);
    }
    // A run alone has two commits with five statements each; runs that share commits have fewer.
    const [commits, statements] = ['commits', 'statements'].map((what) => byFigure.get(`${what} a run`)?.[1] ?? 0) as [
      number,
      number,
    ];
    assert.ok(commits < 4 && statements < 16 && commits < statements, `${phase}: ${commits}, ${statements}`);
  }
  assert.deepEqual([...figures.keys()], [], 'figures that nobody checks');
});
