import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { maskCode, scanCode } from './support/architecture/code-scanner.ts';
import { checkCycles } from './support/architecture/cycle-check.ts';
import {
  type Check,
  checkAdapters,
  checkDatabaseModules,
  checkExtensions,
  checkPackages,
  checkServerFolders,
  checkTesting,
  checkUnusedRules,
} from './support/architecture/import-checks.ts';
import { readProse, splitPassages } from './support/architecture/prose.ts';
import {
  checkGenitives,
  checkProse,
  findListedWords,
  type ProseCounts,
  readBaseline,
} from './support/architecture/prose-check.ts';
import { getCode, listImports, readSources, type Sources } from './support/architecture/sources.ts';
import {
  checkBarrels,
  checkDefaultExports,
  checkEnvironment,
  checkLength,
  checkNames,
  checkOutgoing,
  listLongFiles,
} from './support/architecture/text-checks.ts';

const sources = readSources(join(import.meta.dirname, '..'));

const server = (files: Readonly<Record<string, string>>): Sources =>
  new Map(Object.entries(files).map(([path, text]) => [`packages/server/src/${path}`, text]));
const files = (entries: Readonly<Record<string, string>>): Sources => new Map(Object.entries(entries));

interface Rule {
  readonly claim: string;
  readonly check: Check;
  /** Each breaks the rule in one way. */
  readonly faults: readonly Sources[];
  /** What the rule must leave alone. */
  readonly allowed: Sources;
}

const rules: readonly Rule[] = [
  {
    claim: 'each folder of the server imports only the folders below it',
    check: checkServerFolders,
    faults: [
      server({ 'chats/read-chat.ts': "import { readRun } from '../runs/read-run.ts';" }),
      server({ 'domain/run-state.ts': "import type { Log } from '../telemetry/log.ts';" }),
      server({ 'config/read-config.ts': "import { log } from '../telemetry/log.ts';" }),
      server({ 'admission/admit-run.ts': "import { executeRun } from '../engine/execute-run.ts';" }),
      server({ 'agencies/load-agency.ts': "const { loop } = await import('../agent/loop.ts');" }),
      server({ 'engine/execute-run.ts': "import { sse } from '../http/sse.ts';" }),
      server({ 'runs/end-run.ts': "export type { Composed } from '../compose/compose.ts';" }),
      server({ 'store/writer.ts': "new Worker(new URL('../engine/beat.ts', import.meta.url));" }),
      server({ 'runs/end-run.ts': "import type { Run } from '@runwire/contract';" }),
      server({ 'http/route.ts': "import { defineAgent } from '@runwire/agency';" }),
      server({ 'http/route.ts': "import { GuardedFetcher } from '@runwire/guarded-fetch';" }),
      server({ 'agent/loop.ts': "import { offlineModel } from '@runwire/models/offline-model';" }),
      server({ 'commands/backup.ts': "import { buildApp } from '../http/app.ts';" }),
      server({ 'services/run-service.ts': '' }),
    ],
    allowed: server({
      'compose/compose.ts': "import { executeRun } from '../engine/execute-run.ts';",
      'admission/admit-run.ts': "import type { RunEngine } from '../engine/port.ts';\nimport './decide.ts';",
      'agencies/load-agency.ts': "import type { Tool } from '../agent/ports.ts';\nimport '@runwire/agency';",
      'domain/run-state.ts':
        "import type { RunStatus } from '@runwire/contract';\nimport { a } from '@runwire/lib/a.ts';",
      'chats/read-chat.test.ts': "import { readRun } from '../runs/read-run.ts';",
    }),
  },
  {
    claim: 'every rule is about a folder or a file that exists',
    check: checkUnusedRules,
    faults: [server({ 'lib/a.ts': '' }), server({ 'compose/compose.ts': '', 'engine/engine.ts': '' })],
    allowed: files({ 'packages/cli/src/main.ts': '' }),
  },
  {
    claim: 'adapters are imported by compose/, commands/, the test kit and their own folder alone',
    check: checkAdapters,
    faults: [
      server({ 'store/writer.ts': "import { openSqlite } from './sqlite/open-sqlite.ts';" }),
      server({ 'main.ts': "import { openSqlite } from './store/sqlite/open-sqlite.ts';" }),
      server({ 'store/postgres/open-postgres.ts': "import { openSqlite } from '../sqlite/open-sqlite.ts';" }),
      server({ 'chats/read-chat.test.ts': "import { openSqlite } from '../store/sqlite/open-sqlite.ts';" }),
      server({ 'files/sign-upload.ts': "import { diskStore } from './disk/disk-store.ts';" }),
    ],
    allowed: server({
      'compose/compose.ts': "import { openSqlite } from '../store/sqlite/open-sqlite.ts';",
      'store/sqlite/open-sqlite.test.ts': "import { openSqlite } from './open-sqlite.ts';",
      'store/sqlite/writer.ts': "import type { Store } from '../store.ts';",
    }),
  },
  {
    claim: 'only tests, proofs and benchmarks import the test kit and testing/',
    check: checkTesting,
    faults: [
      server({ 'compose/compose.ts': "import { scriptedModel } from '../testing/scripted-model.ts';" }),
      server({ 'main.ts': "import { startTestServer } from '@runwire/test-kit';" }),
      files({ 'packages/cli/src/test.ts': "await import('@runwire/server/testing');" }),
      files({ 'packages/cli/src/serve.ts': "await import('@runwire/test-kit');" }),
      files({ 'scripts/build.ts': "import { startTestServer } from '@runwire/test-kit';" }),
    ],
    allowed: files({
      'test/start.test.ts': "import { startTestServer } from '@runwire/test-kit';",
      'proofs/one-run.ts': "import { startTestServer } from '@runwire/test-kit';",
      'bench/floor.ts': "import { startTestServer } from '@runwire/test-kit';",
      'packages/server/src/http/sse.test.ts': "import { startTestServer } from '@runwire/test-kit';",
      'packages/test-kit/src/index.ts': "export { startTestServer } from '@runwire/server/testing';",
      'packages/server/src/testing/test-server.ts': "import { ApiClient } from './api-client.ts';",
    }),
  },
  {
    claim: 'each package imports only what it may',
    check: checkPackages,
    faults: [
      files({ 'packages/contract/src/errors.ts': "import { Type } from 'typebox';" }),
      files({ 'packages/contract/src/errors.ts': "import { runSchema } from './schemas/run.ts';" }),
      files({ 'packages/contract/src/schemas/run.ts': "import { readFileSync } from 'node:fs';" }),
      files({ 'packages/contract/src/schemas/run.ts': "import { Type } from 'typebox';" }),
      files({ 'packages/agency/src/index.ts': "import type { Run } from '@runwire/contract';" }),
      files({ 'packages/agency/src/index.ts': "import { join } from 'node:path';" }),
      files({ 'packages/server/src/compose/compose.ts': "import { Client } from '@runwire/client';" }),
      files({ 'packages/server/src/http/route.ts': "import { Run } from '../../../contract/src/index.ts';" }),
      files({ 'packages/cli/src/main.ts': "import { serve } from '@runwire/server';" }),
      files({ 'packages/extra/src/index.ts': "import { join } from 'node:path';" }),
      files({ 'packages/guarded-fetch/src/a.ts': "import { b } from '@runwire/server/src/domain/b.ts';" }),
      files({ 'packages/guarded-fetch/src/a.ts': "import { request } from 'undici';" }),
      server({ 'attachments/a.ts': "import { b } from '@runwire/guarded-fetch/src/open-checked.ts';" }),
      files({ 'packages/console/src/main.tsx': "import { errors } from '@runwire/contract';" }),
      files({ 'packages/console/src/main.tsx': "import { createRoot } from 'preact';" }),
      files({ 'packages/console/src/main.tsx': "import { serve } from '../../server/src/main.ts';" }),
      files({ 'packages/server/src/http/app.ts': "import { App } from '@runwire/console';" }),
    ],
    allowed: files({
      'packages/contract/src/index.ts': "export * from './errors.ts';",
      'packages/contract/src/schemas/run.ts':
        "import type { Static } from 'typebox';\nimport type { Run } from '../run.ts';",
      'packages/server/src/http/route.ts': "import { runSchema } from '@runwire/contract/schemas';\nimport 'fastify';",
      'packages/cli/src/main.ts': "import { parseArgs } from 'node:util';\nconst s = await import('@runwire/server');",
      'packages/cli/src/keys.ts': "import type { Installation } from '@runwire/server';",
      'packages/console/src/main.tsx':
        "import { createRoot } from 'react-dom/client';\nimport { Client } from '@runwire/client';\nimport './a.css';",
      'packages/agency/src/index.test.ts': "import { test } from 'node:test';",
    }),
  },
  {
    claim: 'no file imports itself by way of others, types included',
    check: checkCycles,
    faults: [
      server({
        'runs/a.ts': "import { b } from './b.ts';",
        'runs/b.ts': "import type { C } from '../chats/c.ts';",
        'chats/c.ts': "export type { A } from '../runs/a.ts';",
      }),
      files({
        'packages/contract/src/index.ts': "import { A } from '@runwire/agency';",
        'packages/agency/src/index.ts': "await import('@runwire/contract');",
      }),
      server({ 'lib/self.ts': "import { self } from './self.ts';" }),
    ],
    allowed: server({
      'runs/a.ts': "import { b } from './b.ts';\nimport { c } from './c.ts';",
      'runs/b.ts': "import { c } from './c.ts';",
      'runs/c.ts': "// import { a } from './a.ts';\nconst text = \"import { a } from './a.ts'\";",
    }),
  },
  {
    claim: 'the environment is read in config/ alone',
    check: checkEnvironment,
    faults: [
      server({ 'compose/compose.ts': 'const port = process.env.PORT;' }),
      server({ 'main.ts': "const port = process['env'].PORT;" }),
      server({ 'http/listen.ts': "import { env } from 'node:process';" }),
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a template in the text under test
      server({ 'lib/say.ts': 'const text = `port ${process.env.PORT}`;' }),
      files({ 'packages/cli/src/keys.ts': 'const { env } = process;\nprocess.env.HOME;' }),
    ],
    allowed: server({
      'config/read-config.ts': 'export const read = (env = process.env) => env;',
      'http/listen.ts': "// process.env is not read here\nconst text = 'process.env';\nprocess.environment;",
    }),
  },
  {
    claim: 'queries are built in store/ alone',
    check: checkDatabaseModules,
    faults: [
      server({ 'chats/read-chat.ts': "import { sql } from 'kysely';" }),
      server({ 'runs/read-run.ts': "import type { Kysely } from 'kysely';" }),
      server({ 'config/lock.ts': "import { DatabaseSync } from 'node:sqlite';" }),
      files({ 'packages/cli/src/move.ts': "import pg from 'pg';" }),
    ],
    allowed: server({
      'store/queries/runs.ts': "import { sql } from 'kysely';",
      'store/sqlite/open-sqlite.ts': "import { DatabaseSync } from 'node:sqlite';",
      'compose/compose.ts': "import type { Kysely } from 'kysely';",
    }),
  },
  {
    claim: 'relative imports end in .ts',
    check: checkExtensions,
    faults: [
      server({ 'lib/a.ts': "import { b } from './b';" }),
      server({ 'lib/a.ts': "import { b } from './b.js';" }),
      server({ 'lib/a.ts': "export * from '../domain';" }),
    ],
    allowed: server({
      'lib/a.ts': "import { b } from './b.ts';\nimport data from './data.json' with { type: 'json' };",
    }),
  },
  {
    claim: 'no file is longer than 500 lines',
    check: checkLength,
    faults: [server({ 'engine/execute-run.ts': 'run();\n'.repeat(501) })],
    allowed: files({
      'packages/server/src/engine/execute-run.ts': 'run();\n'.repeat(500),
      'packages/contract/src/types.gen.ts': 'run();\n'.repeat(501),
    }),
  },
  {
    claim: 'exports are named',
    check: checkDefaultExports,
    faults: [
      server({ 'http/route.ts': 'export default function route() {}' }),
      server({ 'http/route.ts': 'function route() {}\nexport { route as default };' }),
    ],
    allowed: files({
      'packages/server/src/http/route.ts':
        "import fastify from 'fastify';\nexport const defaultRoute = 'export default';",
    }),
  },
  {
    claim: "only a package's entry gathers the exports of other files",
    check: checkBarrels,
    faults: [
      server({ 'runs/index.ts': "import { a } from './a.ts';\nexport const runs = a;" }),
      server({ 'runs/all.ts': "export * from './a.ts';\nexport const b = 1;" }),
      server({ 'runs/all.ts': "// The runs.\nexport { a } from './a.ts';\nexport type { B } from './b.ts';" }),
    ],
    allowed: files({
      'packages/server/src/index.ts': "export * from './compose/compose.ts';",
      'packages/test-kit/src/index.ts': "export { a } from './a.ts';",
      'packages/contract/src/schemas/index.ts': "export * from './run.ts';",
      'packages/server/src/runs/read-run.ts': "export type { Run } from './run.ts';\nexport const readRun = () => {};",
    }),
  },
  {
    claim: 'no name ends in manager, helper, util or impl, and no function in Of',
    check: checkNames,
    faults: [
      server({ 'runs/run-manager.ts': '' }),
      server({ 'lib/utils.ts': '' }),
      server({ 'helpers/text.ts': '' }),
      server({ 'runs/runs.ts': 'export class RunManager {}' }),
      server({ 'store/store.ts': 'class StoreImpl {}\nexport { StoreImpl };' }),
      server({ 'store/store.ts': 'const a = 1;\nexport { a as dateUtils };' }),
      server({ 'store/store.ts': 'export async function queryHelper() {}' }),
      server({ 'runs/end-run.ts': 'const nameOf = (run: Run) => run.name;' }),
      server({ 'runs/end-run.ts': 'export function* stepsOf() {}' }),
    ],
    allowed: server({
      'lib/schema.ts':
        'const isOneOf = 1;\nconst { anyOf } = schema;\nconst anyOf = 2;\ntype RowOf<T> = T;\na.indexOf(b);',
      'runs/end-run.ts': "import { inspect } from 'node:util';\nexport const simplify = 1;\nexport type Utility = 1;",
    }),
  },
  {
    claim: 'requests leave the server by the guarded fetcher and the adapters of models, S3 and MCP alone',
    check: checkOutgoing,
    faults: [
      server({ 'files/attach.ts': 'const answer = await fetch(url);' }),
      server({ 'files/attach.ts': 'const get = deps.get ?? fetch;' }),
      server({ 'files/attach.ts': 'download(url, fetch);' }),
      server({ 'lib/download.ts': 'await fetch(url);' }),
      server({ 'guarded-fetch-too/fetch.ts': 'await fetch(url);' }),
      server({ 'lib/download.ts': "import { connect } from 'node:tls';" }),
      server({ 'lib/download.ts': "const { connect } = await import('net');" }),
      server({ 'http/route.ts': 'return globalThis.fetch(url);' }),
      server({ 'http/route.ts': 'const get = globalThis.fetch;' }),
      server({ 'http/route.ts': "return globalThis['fetch'](url);" }),
      server({ 'http/route.ts': "import { request } from 'undici';" }),
      server({ 'http/route.ts': "import { lookup } from 'node:dns/promises';" }),
      server({ 'agent/tools/web.ts': "import { request } from 'node:https';" }),
      server({ 'agent/tools/web.ts': "new WebSocket('wss://example.com');" }),
      server({ 'agent/tools/web.ts': 'const source = new EventSource(url);' }),
      server({ 'engine/peer.ts': "import { connect } from 'node:net';" }),
      server({ 'engine/peer.ts': "import { createSocket } from 'node:dgram';" }),
      server({ 'engine/peer.ts': "import { Resolver } from 'dns';" }),
      server({ 'webhooks/send.ts': "const http = await import('node:http');" }),
      server({ 'engine/run-team.ts': "import { Client } from '@modelcontextprotocol/client';" }),
      server({ 'files/sweep.ts': "import { S3Client } from '@aws-sdk/client-s3';" }),
      files({ 'packages/lib/src/download.ts': 'await fetch(url);' }),
    ],
    allowed: new Map([
      ...files({
        'packages/mcp-sessions/src/connection.ts': "import { Client } from '@modelcontextprotocol/client';",
        'packages/models/src/openai.ts': "import { request } from 'undici';",
        'packages/guarded-fetch/src/real-network.ts':
          "import { connect } from 'node:tls';\nimport 'node:dns/promises';",
      }),
      ...server({
        'http/listen.ts': "import { createServer } from 'node:http';",
        'runs/read.ts':
          "import type { IncomingMessage } from 'node:http';\nstore.fetch(1);\nprefetch();\n// fetch(url)",
        'files/s3/open-s3.ts': "const sdk = await import('@aws-sdk/client-s3');",
        'http/compatible/mcp/mcp-sdk.ts': "const sdk = await import('@modelcontextprotocol/server');",
        'store/postgres/gathering-socket.ts': "import { Socket } from 'node:net';",
        'engine/attach.ts': 'await this.#fetcher.fetch(url, signal);\nconst { fetched } = await fetchAll(urls);',
      }),
    ]),
  },
];

for (const { claim, check, faults, allowed } of rules) {
  test(claim, () => {
    assert.deepEqual(check(sources), []);
  });

  test(`sees a planted fault: ${claim}`, () => {
    for (const fault of faults) {
      assert.notDeepEqual(check(fault), [], `not seen: ${JSON.stringify([...fault])}`);
    }
    assert.deepEqual(check(allowed), []);
    assert.deepEqual(check(new Map()), []);
  });
}

test('the prose has no more listed words than the baseline allows', () => {
  assert.deepEqual(checkProse(readProse(join(import.meta.dirname, '..')), readBaseline()), []);
});

test('the prose has no more genitives with "of" than it had', () => {
  assert.deepEqual(checkGenitives(readProse(join(import.meta.dirname, '..'))), []);
  const guide = files({ 'docs/guide.md': `# Guide\n\n${'The end of the run. '.repeat(20)}\n` });
  assert.equal(checkGenitives(guide).length, 1);
});

test('sees a planted sentence with a listed word', () => {
  const none: ProseCounts = { comments: 0, docs: 0, strings: 0, testNames: 0, typeNames: 0 };
  const path = 'packages/server/src/lib/a.ts';
  const faults: readonly (readonly [string, string])[] = [
    [path, '// Returns undefined where the run has ended.\nexport const a = 1;'],
    [path, '// The first line is plain,\n// nobody reads the second.\nexport const a = 1;'],
    [path, '/** Null: the run has ended. */\nexport const a = 1;'],
    [path, '/** Whether the run has ended. */\nexport const a = 1;'],
    [path, '/** Of a run: its end. */\nexport const a = 1;'],
    [path, "export const a = 'The run goes on without a reader.';"],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a template in the text under test
    [path, 'export const a = `The ${name} is told what to do.`;'],
    [path, 'export interface Given {}'],
    ['packages/server/src/lib/a.test.ts', "test('stops at once', () => {});"],
    ['docs/guide.md', '# Guide\n\nThe file lies in a folder.\n'],
    ['docs/alerts.yaml', '  summary: The node is there again.\n'],
    ['compose.yaml', 'a: 1\n# The first line is plain,\n# for whoever reads the second.\n'],
    [path, '/** "Nobody is told" (`contract-4-order`). */\nexport const a = 1;'],
    ['docs/contract/a.md', '- A run goes on. `[contract-1-a]`\n'],
    ['docs/guide.md', 'To delete a person, erase it.'],
    ['docs/guide.md', 'Sentences are often exacter.'],
    [path, "throw new Error('Status 404, but not of Runwire');"],
  ];
  for (const fault of faults) assert.equal(checkProse(new Map([fault]), none).length, 1, `not seen: ${fault}`);

  const allowed = files({
    [path]: [
      '// Returns undefined if the run has ended. This is the folder where uploads are stored, behind a proxy.',
      '/** A `nobody` in code is a name. */',
      'export interface Feed {}',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a template in the text under test
      "const where = sql`select a from b where ${nobody} is there`; const key = 'nobody';",
      "db.exec('select a from b where nobody is there');",
    ].join('\n'),
    'docs/guide.md': 'Run `whoever` if needed.\n\n```ts\n// nobody\n```\n',
    'docs/style.md': 'Do not write nobody.',
    'packages/contract/src/types.gen.ts': '// nobody',
  });
  assert.deepEqual(findListedWords(splitPassages(allowed)), []);
  assert.deepEqual(checkProse(files({ [path]: '// nobody' }), { ...none, comments: 1 }), []);
});

test('names the files that are longer than aimed at', (t) => {
  for (const line of listLongFiles(sources)) t.diagnostic(line);
  assert.deepEqual(listLongFiles(server({ 'runs/a.ts': 'a();\n'.repeat(251), 'runs/b.ts': 'b();\n'.repeat(250) })), [
    'packages/server/src/runs/a.ts: 251 lines',
  ]);
});

test('finds every form of import, and imports only in code', () => {
  const text = [
    "import fastify, { type FastifyInstance } from 'fastify';",
    'import {\n  a, // import { x } from "no-1";\n  b as c,\n} from "./two.ts";',
    "import * as three from './three.ts'; import './four.ts';",
    "export * from './five.ts';",
    "export type { Six } from './six.ts';",
    "import { type Seven } from './seven.ts';",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a template in the text under test
    "const eight = `${await import('./eight.ts')} import { x } from 'no-2'`;",
    'const slash = /[/\'"`]import "no-3"/.test(a) / 2; const half = a / b; // import "no-4"',
    "const from = 'x'; export const text = 'import { y } from \"no-5\"';",
    "/* import z from 'no-6'; */ new Worker(new URL('./nine.ts', import.meta.url));",
    "export function importFrom() { return array.from('no-7'); }",
  ].join('\n');
  assert.deepEqual(
    listImports('packages/server/src/lib/a.ts', text)
      .sort((a, b) => a.line - b.line)
      .map(({ specifier, kind }) => `${kind} ${specifier}`),
    [
      'static fastify',
      'static ./two.ts',
      'static ./three.ts',
      'static ./four.ts',
      'static ./five.ts',
      'type ./six.ts',
      'type ./seven.ts',
      'dynamic ./eight.ts',
      'url ./nine.ts',
    ],
  );
  assert.equal(maskCode(text).length, text.length);
});

test('code, text and comments of JSX are told apart', () => {
  const text = [
    'export const App = ({ a, b }: Props) => {',
    '  const same = <T,>(value: T) => value; const less = a < b / 2; const list: Array<string> = [];',
    "  return a ? <><p title='It isn\"t' {...b}>Don't stop: http://a.example {/* nobody knows */} /* text `</p>",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a template in the text under test
    '    <Rows<Row> /* a tag */ of={list.map((row) => <b key={`${row}>`}>{row}</b>)} disabled /></> : <hr/>;',
    '};',
    "const page = lazy(() => import('./page.tsx'));",
  ].join('\n');
  const { mask, comments, strings } = scanCode(text, true);
  const texts = (spans: typeof comments) => spans.map(({ from, to }) => text.slice(from, to).trim()).filter(Boolean);
  assert.deepEqual(texts(comments), ['/* nobody knows */', '/* a tag */']);
  const sentences = ['It isn"t', "Don't stop: http://a.example", '/* text `', '>', './page.tsx'];
  assert.deepEqual(texts(strings), sentences);
  assert.match(
    mask,
    /<Rows<Row> .* of=\{list\.map\(\(row\) => <b key=\{`\$\{row\} `\}>\{row\}<\/b>\)\} disabled \/><\/> : <hr\/>;\n/,
  );
  assert.deepEqual(listImports('packages/console/src/a.tsx', text).map(({ specifier }) => specifier), ['./page.tsx']); // biome-ignore format: short
  const path = 'packages/console/src/a.tsx';
  const sees = (line: string) => findListedWords(splitPassages(files({ [path]: `const a = ${line};` }))).length;
  assert.deepEqual([sees('<p>{/* nobody */}</p>'), sees("<p>It's said that nobody reads this.</p>")], [1, 1]);
});

test('the scanner finds the end of every string, template and element', () => {
  for (const [path, text] of sources) {
    const code = getCode(path, text);
    const count = (bracket: string) => code.split(bracket).length;
    assert.deepEqual([count('{'), count('('), count('[')], [count('}'), count(')'), count(']')], path);
  }
});
