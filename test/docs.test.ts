import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { PROVIDERS, providerSettingNames } from '@runwire/models';
import { askDatabase, freshDatabase } from '@runwire/test-kit';
import { parse } from 'yaml';
import { LIMIT_SETTINGS } from '../packages/server/src/config/limits.ts';
import { PROMISES } from '../proofs/proof-table.ts';
import { getFolder, root } from './support/cli-process.ts';
import { getSettings } from './support/compose-problems.ts';
import { brokenLinks } from './support/doc-links.ts';
import { getFences, listSamples, pages, readPage, run, SAMPLES } from './support/doc-samples.ts';
import { missingService, NGINX } from './support/services.ts';

const MAX_WORDS = 1500;
const MAX_README_LINES = 150;

const guides = () => pages().filter((page) => /^docs\/(contract\/)?[^/]+\.md$/.test(page));

const texts = () => new Map(pages().map((page) => [page, readPage(page)]));

test('every relative link and anchor of the docs resolves', () => {
  assert.deepEqual(brokenLinks(texts(), root), []);
});

test('finds planted broken links', () => {
  const page = '# A title\n\n[good](#a-title) [bad](#no-title) [gone](gone.md) [code](README.md#no-such) `[x](y.md)`\n';
  assert.deepEqual(brokenLinks(new Map([...texts(), ['page.md', page]]), root), [
    'page.md: #no-title: page.md has no heading #no-title',
    'page.md: gone.md: there is no gone.md',
    'page.md: README.md#no-such: README.md has no heading #no-such',
  ]);
});

test('docs pages have under 1 500 words, and the README at most 150 lines', () => {
  const long = guides().flatMap((page) => {
    const words = readPage(page).match(/[\p{L}\p{N}][^\s|]*/gu)?.length ?? 0;
    return words < MAX_WORDS ? [] : [`${page}: ${words}`];
  });
  assert.deepEqual(long, []);
  assert.ok(readPage('README.md').trimEnd().split('\n').length <= MAX_README_LINES);
});

test('SECURITY.md has a real way to report, and the README promises no more than is true', () => {
  assert.match(readPage('SECURITY.md'), /\*\*Security\*\*, then \*\*Report a vulnerability\*\*/);
  assert.doesNotMatch(readPage('SECURITY.md'), /@|example\.com/);
  assert.doesNotMatch(readPage('README.md'), /every operation|never ignores/);
});

test('the pages about promises name every proof with its planted faults', async () => {
  const page = ['promises', 'tool-promises', 'client-promises'].map((name) => readPage(`docs/${name}.md`)).join('');
  for (const [name, { faults }] of Object.entries(PROMISES)) {
    const row = page.split('\n').find((line) => line.includes(`| \`${name}\` |`)) ?? '';
    for (const fault of Object.keys(faults)) assert.ok(row.includes(`\`${fault}\``), `${name}: ${fault}`);
  }
});

test('docs/README.md lists every page of docs', () => {
  const index = readPage('docs/README.md');
  const missing = pages().filter((page) => /^docs\/[^/]+\.md$/.test(page) && page !== 'docs/README.md');
  assert.deepEqual(
    missing.filter((page) => !index.includes(`(${basename(page)})`)),
    [],
  );
});

test('docs/contract/README.md lists every page of the contract', () => {
  const index = readPage('docs/contract/README.md');
  const missing = guides().filter(
    (page) => page.startsWith('docs/contract/') && !index.includes(`(${basename(page)})`),
  );
  assert.deepEqual(missing, ['docs/contract/README.md']);
});

test('every sample of the docs is counted in SAMPLES', () => {
  const counted: Record<string, Record<string, number>> = {};
  for (const page of pages().filter((name) => /^(docs\/|packages\/[^/]+\/)?[^/]+\.md$/.test(name))) {
    for (const { language } of getFences(page)) {
      // A plot is no sample.
      if (language === '' || language === 'mermaid') continue;
      const samples = counted[page] ?? {};
      samples[language] = (samples[language] ?? 0) + 1;
      counted[page] = samples;
    }
  }
  assert.deepEqual(counted, SAMPLES);
  const sources = ['test/*.test.ts', 'test/support/typescript-samples.ts'];
  const tests = globSync(sources, { cwd: root }).map((file) => readFileSync(join(root, file), 'utf8'));
  const unread = Object.keys(SAMPLES).filter(
    (page) =>
      page.startsWith('docs/') && !tests.some((text) => text.includes(`'${page}'`) || text.includes(`'../${page}'`)),
  );
  assert.deepEqual(unread, [], 'no test reads these pages');
});

test('every JSON and YAML sample of the docs can be parsed', () => {
  for (const [page, { json, yaml }] of Object.entries(SAMPLES)) {
    if (json !== undefined) for (const sample of listSamples(page, 'json')) JSON.parse(sample);
    if (yaml !== undefined) for (const sample of listSamples(page, 'yaml')) parse(sample);
  }
  for (const page of guides().filter((name) => name.startsWith('docs/contract/')))
    for (const [, sample = ''] of readPage(page).matchAll(/^ *```json\n([\s\S]*?)^ *```$/gm))
      assert.doesNotThrow(() => JSON.parse(sample), `${page}: ${sample}`);
});

test('nginx accepts the samples of the docs', { skip: (await missingService('nginx')) ?? false }, async (t) => {
  for (const page of ['docs/stream.md', 'docs/text-only.md']) {
    const folder = getFolder(t);
    const [location = ''] = listSamples(page, 'nginx');
    const file = `${folder}.conf`;
    const site = `server { listen 127.0.0.1:8080; ${location} }`;
    writeFileSync(file, `pid ${folder}.pid;\nevents {}\nhttp { access_log off; ${site} }\n`);
    const { stderr } = await run(NGINX, ['-t', '-e', `${folder}.log`, '-c', file]);
    assert.match(stderr, /test is successful/, page);
  }
});

test('PostgreSQL accepts the samples of the docs', { skip: (await missingService('postgres')) ?? false }, async () => {
  await using database = await freshDatabase();
  const name = `doc_sample_${process.pid}`;
  const [create = ''] = listSamples('docs/postgres.md', 'sql');
  const statements = create
    .replaceAll(/\brunwire\b/g, name)
    .split(/;\n/)
    .filter(Boolean);
  assert.equal(statements.length, 2);
  try {
    for (const statement of statements) await askDatabase(database.url, statement);
  } finally {
    await askDatabase(database.url, `drop database if exists ${name}`);
    await askDatabase(database.url, `drop role if exists ${name}`);
  }
  const [update = ''] = listSamples('docs/upgrade.md', 'sql');
  await askDatabase(database.url, 'create table nodes (node_id text primary key, dead integer not null)');
  await askDatabase(database.url, "insert into nodes values ('node_…', 0), ('node_2', 0)");
  await askDatabase(database.url, update);
  assert.deepEqual(await askDatabase(database.url, 'select node_id from nodes where dead = 1'), [
    { node_id: 'node_…' },
  ]);
});

const sourceFiles = () =>
  globSync('packages/{server,cli,contract,documents,lib,guarded-fetch,models,sandbox,mcp-sessions}/src/**/*.ts', {
    cwd: root,
  });
const source = () =>
  sourceFiles()
    .map((file) => readFileSync(join(root, file), 'utf8'))
    .join('\n');

test('every source file that the pages about the code name exists', () => {
  const pagesAboutCode = ['architecture', 'packages', 'rules', 'transactions', 'glossary', 'style', 'dependencies'];
  const missing = pagesAboutCode.flatMap((page) =>
    [...readPage(`docs/${page}.md`).matchAll(/`((?:[a-z0-9-]+\/)+[a-z0-9.-]+\.ts)`/g)]
      .map(([, path = '']) => path)
      .filter((path) => ![path, `packages/server/src/${path}`].some((file) => existsSync(join(root, file))))
      .map((path) => `docs/${page}.md: ${path}`),
  );
  assert.deepEqual(missing, []);
});

test('the docs quote sentences of refused starts that the code has', () => {
  const code = source().replaceAll('\\`', '');
  const quotes = ['docs/failures.md', 'docs/move-to-postgres.md'].flatMap((page) => {
    const [, table = ''] = readPage(page).split('| the sentence | what to do |');
    return [...table.matchAll(/^\| `([^`]+)`/gm)].map(([, quote = '']) => quote);
  });
  assert.ok(quotes.length > 15);
  const unknown = quotes.flatMap((quote) => quote.split(/ ?\(?…\)? ?/)).filter((part) => !code.includes(part));
  assert.deepEqual(unknown, []);
});

test('docs/settings.md lists every setting that the server reads, and no other', () => {
  const listed = getSettings('docs/settings.md');
  const [, knownText = ''] = /const KNOWN = new Set\(\[([\s\S]*?)\]\)/.exec(source()) ?? [];
  const named = [...knownText.matchAll(/'(RUNWIRE_[A-Z_]+)'/g)].map(([, name = '']) => name);
  assert.ok(named.length > 10);
  const runwire = [...named, ...LIMIT_SETTINGS.map(({ setting }) => setting)];
  assert.deepEqual(listed.filter((name) => name.startsWith('RUNWIRE_')).sort(), [...new Set(runwire)].sort());
  const ofProviders = [...PROVIDERS.keys()].map(providerSettingNames).flatMap(({ key, baseUrl }) => [key, baseUrl]);
  for (const name of ofProviders) assert.ok(listed.includes(name), name);
  const code = source();
  const known = [...runwire, ...ofProviders];
  for (const name of listed) assert.ok(code.includes(`'${name}'`) || known.includes(name), name);
  const page = readPage('docs/settings.md');
  for (const { setting, value } of LIMIT_SETTINGS) {
    assert.ok(page.includes(`\n| \`${setting}\` | \`${value}\` |`), `the default of ${setting} is ${value}`);
  }
});

test('every npm script and test file that the docs name exists', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  for (const [page, text] of texts()) {
    for (const [, script = ''] of text.matchAll(/\bnpm run (?:--silent )?([a-z][\w:-]*)/g)) {
      assert.ok(script in scripts, `${page}: npm run ${script}`);
    }
    if (!/^(docs\/)?[^/]+\.md$/.test(page) || page === 'CHANGELOG.md') continue;
    for (const [file] of text.matchAll(/\b(?:test|scripts|proofs|bench)\/[\w/-]+\.ts\b/g)) {
      assert.ok(existsSync(join(root, file)), `${page}: ${file}`);
    }
  }
});

test('docs/dependencies.md names every dependency', () => {
  const page = readPage('docs/dependencies.md');
  const files = ['package.json', ...globSync('packages/*/package.json', { cwd: root })];
  const manifests = files.map((file) => JSON.parse(readFileSync(join(root, file), 'utf8')));
  const names = manifests.flatMap((manifest) =>
    Object.keys({ ...manifest.dependencies, ...manifest.devDependencies, ...manifest.optionalDependencies }),
  );
  assert.ok(names.includes('fastify'));
  assert.deepEqual(
    [...new Set(names)].filter((name) => !name.startsWith('@runwire/') && !page.includes(`\`${name}\``)),
    [],
  );
});

interface LockedPackage {
  readonly link?: boolean;
  readonly dev?: boolean;
  readonly license?: string;
  readonly hasInstallScript?: boolean;
}

/** The packages of the lock file whose licence, or whose install script, docs/licences.md does not list. */
function unlistedPackages(packages: Readonly<Record<string, LockedPackage>>): string[] {
  const rows = [...readPage('docs/licences.md').matchAll(/^\| ([^|]+) \| ([^|]+) \|/gm)];
  const listed = (start: string): readonly (string | undefined)[] => {
    const row = rows.find(([, packages = '']) => packages.startsWith(start))?.[2] ?? '';
    return [...row.matchAll(/`([^`]+)`/g)].map(([, name]) => name);
  };
  const installed = listed('installed with the server');
  const development = [...installed, ...listed('only for development')];
  const scripts = listed('install scripts that never run');
  return Object.entries(packages).flatMap(([path, { link, dev, license, hasInstallScript }]) => {
    if (link || !path.includes('node_modules/')) return [];
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    const licences = dev ? development : installed;
    return [
      ...(licences.includes(license ?? 'none') ? [] : [`${name}: licence ${license ?? 'none'}`]),
      ...(hasInstallScript && !scripts.includes(name) ? [`${name}: install script`] : []),
    ];
  });
}

test('every locked package has a listed licence, and none runs an install script', () => {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  assert.deepEqual(unlistedPackages(packages), []);
  const planted = { 'node_modules/lzma': { license: 'LGPL-3.0', hasInstallScript: true }, 'node_modules/bare': {} };
  assert.deepEqual(unlistedPackages(planted), ['lzma: licence LGPL-3.0', 'lzma: install script', 'bare: licence none']);
  assert.match(readFileSync(join(root, '.npmrc'), 'utf8'), /^ignore-scripts=true$/m);
});
