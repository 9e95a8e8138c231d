import assert from 'node:assert/strict';
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import accepted from './accepted.json' with { type: 'json' };
import { acceptPages, checkPages } from './check-pages.ts';
import { citationsIn } from './find-citations.ts';
import { parsePage } from './parse-page.ts';

const PAGE = `# A page

An introduction.

- A sentence on
  two lines. \`[contract-1-two-lines]\`
- A sentence with a sample. \`[contract-1-sample]\`

  \`\`\`json
  {"a": [1, "|"]}
  \`\`\`

| code | meaning | id |
|---|---|---|
| \`a \\| b\` | Two codes. | \`[contract-1-row]\` |
`;

const problemsIn = (text: string) => parsePage('a.md', text).problems;

test('reads list items with what belongs to them, and table rows', () => {
  assert.deepEqual(parsePage('a.md', PAGE), {
    requirements: [
      { id: 'contract-1-two-lines', text: 'A sentence on two lines.', page: 'a.md', line: 5 },
      { id: 'contract-1-sample', text: 'A sentence with a sample. ```json {"a": [1, "|"]} ```', page: 'a.md', line: 7 },
      { id: 'contract-1-row', text: '`a \\| b` | Two codes.', page: 'a.md', line: 15 },
    ],
    problems: [],
  });
});

test('names page and line of everything that is not a requirement with one id', () => {
  assert.deepEqual(problemsIn('# A page\n\n- No id.\n'), [
    'a.md:3: this list item has no id such as `[contract-4-busy]`',
  ]);
  assert.deepEqual(problemsIn('| a | id |\n|---|---|\n| b | |\n'), [
    'a.md:3: this table row has no id such as `[contract-4-busy]`',
  ]);
  assert.deepEqual(problemsIn('- `[contract-1-a]`\n'), ['a.md:1: "contract-1-a" has no sentence']);
  assert.deepEqual(problemsIn('| a | id |\n|---|---|\n| | `[contract-1-a]` |\n'), [
    'a.md:3: "contract-1-a" has no sentence',
  ]);
  assert.deepEqual(problemsIn('- A. `[contract-1-a]` B. `[contract-1-b]`\n'), [
    'a.md:1: this list item has more than one id: contract-1-a, contract-1-b',
  ]);
  assert.deepEqual(problemsIn('- A. `[contract-1-a]` More.\n'), ['a.md:1: "contract-1-a" must end its line']);
  assert.deepEqual(problemsIn('- A. `[contract-one]`\n'), [
    'a.md:1: "contract-one" is no id: write the document, the section and a short name',
  ]);
  assert.deepEqual(problemsIn('1. A. `[contract-1-a]`\n2. B.\n'), [
    'a.md:2: this list item has no id such as `[contract-4-busy]`',
  ]);
  assert.deepEqual(problemsIn('- A. `[contract-1-a]`\nMore.\n'), [
    'a.md:2: indent this line: it continues the list item above it',
  ]);
  assert.deepEqual(problemsIn('A paragraph. `[contract-1-a]`\n'), [
    'a.md:1: "contract-1-a" is neither in a list item nor in a table row',
  ]);
});

test('finds the test around each citation', () => {
  const source = `test('one', (t) => {\n  cites(t, 'spec-7-409');\n});\ntest("it's two", (t) => {\n  cites(\n    t,\n    'agents-29-env',\n  );\n});\n`;
  assert.deepEqual(citationsIn('a.test.ts', source), [
    { id: 'spec-7-409', file: 'a.test.ts', line: 2, test: 'one' },
    { id: 'agents-29-env', file: 'a.test.ts', line: 7, test: "it's two" },
  ]);
});

function makeProject(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), 'runwire-pages-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  for (const folder of ['docs/contract', 'requirements', 'test']) mkdirSync(join(root, folder), { recursive: true });
  const write = (file: string, text: string) => writeFileSync(join(root, file), text);
  write('docs/contract/a.md', PAGE);
  write('requirements/accepted.json', '{}');
  write('test/a.test.ts', "test('shows two lines', (t) => {\n  cites(t, 'contract-1-two-lines');\n});\n");
  const problems = () => checkPages(root).problems.flatMap((problem) => problem.split('\n'));
  return { root, write, problems };
}

test('a changed sentence is named with its line and the test that cites it', (t) => {
  const { root, write, problems } = makeProject(t);
  assert.deepEqual(acceptPages(root), []);
  assert.deepEqual(problems(), []);

  write('docs/contract/a.md', PAGE.replace('two lines.', 'three lines.'));
  assert.deepEqual(problems(), [
    'docs/contract/a.md:5: the sentence of contract-1-two-lines changed: check the tests that cite it',
    '  test/a.test.ts:2 "shows two lines"',
  ]);
  acceptPages(root);
  assert.deepEqual(problems(), []);
  // A line break is no change.
  write('docs/contract/a.md', PAGE.replace('on\n  two lines.', 'on three lines.'));
  assert.deepEqual(problems(), []);
  write('docs/contract/a.md', PAGE.replace('two lines.', 'three lines.').replace('{"a": [1', '{"a": [2'));
  assert.deepEqual(problems(), [
    'docs/contract/a.md:7: the sentence of contract-1-sample changed: check the tests that cite it',
  ]);
});

test('a new, a removed, a doubled and an unknown id are named', (t) => {
  const { root, write, problems } = makeProject(t);
  assert.equal(problems()[0], 'docs/contract/a.md:5: contract-1-two-lines is new: accept it, then cite it in a test');
  acceptPages(root);

  write('test/b.test.ts', "test('b', (t) => {\n  cites(t, 'contract-1-none');\n});\n");
  write('docs/contract/a.md', PAGE.replace(/^- A sentence on\n.*\n/m, ''));
  assert.deepEqual(problems(), [
    'contract-1-two-lines is on no page any more',
    '  test/a.test.ts:2 "shows two lines"',
    'test/b.test.ts:2: "b" cites contract-1-none, which is on no page',
  ]);

  write('docs/contract/a.md', PAGE);
  cpSync(join(root, 'docs/contract/a.md'), join(root, 'docs/contract/b.md'));
  assert.equal(acceptPages(root)[0], 'docs/contract/b.md:5: "contract-1-two-lines" is already at docs/contract/a.md:5');
});

test('every id that comments and docs name is on a page', () => {
  const root = join(import.meta.dirname, '..');
  const files = globSync(['packages/*/src/**/*.ts', 'docs/**/*.md', '*.md'], {
    cwd: root,
    exclude: ['**/node_modules'],
  });
  const unknown = files.flatMap((file) =>
    [
      ...readFileSync(join(root, file), 'utf8').matchAll(
        /\b(?:spec|contract|agents|clients|compatible)-\d[\d.]*(?:-[a-z0-9]+)+/g,
      ),
    ]
      .filter(([id]) => !Object.hasOwn(accepted, id))
      .map(([id]) => `${file}: ${id}`),
  );
  assert.deepEqual(unknown, []);
});
