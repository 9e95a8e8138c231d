import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { findPackageJSON, stripTypeScriptTypes } from 'node:module';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { temporaryFolder } from '@runwire/server/testing';
import { READER_PACKAGES } from './child-reads.ts';
import { childArguments } from './start-document-child.ts';

/** Each attempt reports `done`, or its error's code. */
const TRIES = `
  const outcomes = {};
  const attempt = async (name, work) => {
    outcomes[name] = await new Promise((resolve, reject) => work(resolve, reject)).then(() => 'done', (error) => /ERR_ACCESS_DENIED/.exec([error.code, error.message, error.cause?.code])?.[0] ?? String(error));
  };
  const fs = require('node:fs');
  const [url, file, ownCode, dataFile] = process.argv.slice(-4);
  await attempt('fetch', (resolve, reject) => fetch(url).then(resolve, reject));
  await attempt('connect', (resolve, reject) => require('node:net').connect(new URL(url).port, '127.0.0.1', resolve).on('error', reject));
  await attempt('send', (resolve, reject) => require('node:dgram').createSocket('udp4').on('error', reject).send('x', 9, '127.0.0.1', (error) => error ? reject(error) : resolve()));
  await attempt('resolve', (resolve, reject) => require('node:dns').lookup('localhost', (error) => error ? reject(error) : resolve()));
  await attempt('write', (resolve) => resolve(fs.writeFileSync(file, 'x')));
  await attempt('start', (resolve) => resolve(require('node:child_process').execFileSync(process.execPath, ['-v'])));
  const paths = { itself: '/proc/self/environ', server: '/proc/' + process.ppid + '/environ', machine: '/etc/passwd', data: dataFile, node: process.execPath };
  for (const [name, path] of Object.entries(paths)) {
    await attempt('read ' + name, (resolve) => resolve(fs.readFileSync(path).length));
    await attempt('look at ' + name, (resolve) => resolve(fs.statSync(path)));
    await attempt('open ' + name, (resolve, reject) => fs.promises.open(path).then((handle) => handle.close()).then(resolve, reject));
  }
  await attempt('list', (resolve) => resolve(fs.readdirSync(require('node:path').dirname(dataFile))));
  await attempt('read own code', (resolve) => resolve(fs.readFileSync(ownCode)));
  return outcomes;
`;

/** Documents are read in a thread of that process. */
const IN_THREAD = `
  const { Worker } = require('node:worker_threads');
  const attempts = async () => {${TRIES}};
  const print = (outcomes) => process.stdout.write(JSON.stringify(outcomes), () => process.exit());
  const source = 'require("node:worker_threads").parentPort.postMessage';
  new Worker('(' + attempts + ')().then((all) => ' + source + '(all))', { eval: true, argv: process.argv.slice(-4) }).once('message', print);
`;
const IN_PROCESS = `(async () => {${TRIES}})().then((outcomes) => process.stdout.write(JSON.stringify(outcomes), () => process.exit()));`;

async function getOutcomes(script: string, args: readonly string[], dataFile: string): Promise<Record<string, string>> {
  const server = createServer((_, answer) => answer.end('here')).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const given = [url, '/dev/null', join(import.meta.dirname, 'document-child.ts'), dataFile];
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [...args, '-e', script, ...given], {
      env: { SECRET: 'x' },
      timeout: 60_000,
    });
    return JSON.parse(stdout);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

for (const [where, script] of Object.entries({ process: IN_PROCESS, thread: IN_THREAD })) {
  test(`the ${where} that reads documents may read only its own code`, async (t) => {
    const dataDir = temporaryFolder();
    t.after(() => rmSync(dataDir, { recursive: true }));
    const dataFile = join(dataDir, 'secret');
    writeFileSync(dataFile, 'secret');
    const { 'read own code': code, ...others } = await getOutcomes(script, childArguments(), dataFile);
    assert.equal(code, 'done');
    for (const [name, outcome] of Object.entries(others)) assert.equal(outcome, 'ERR_ACCESS_DENIED', name);
    // Every attempt works without the restrictions.
    assert.deepEqual(new Set(Object.values(await getOutcomes(script, [], dataFile))), new Set(['done']));
  });
}

const modulesBelow = (folder: string) =>
  globSync('**/*.ts', { cwd: folder }).filter((name) => !name.endsWith('.test.ts') && !name.startsWith('fixtures'));

test('the code may read every package that it imports', () => {
  const imports = modulesBelow(import.meta.dirname).flatMap((name) => {
    const source = readFileSync(join(import.meta.dirname, name), 'utf8');
    return [...source.matchAll(/(?:from|import\()\s*'([^'.][^']*)'/g)].map((match) => match[1] ?? '');
  });
  // Only the process that starts the child imports `@runwire/lib`. The test below would fail if the child did.
  const packages = new Set(imports.filter((name) => !/^(node:|@runwire\/lib\/)/.test(name)));
  assert.deepEqual([...packages].sort(), [...READER_PACKAGES].sort());
});

/** Reads one file of each kind whose library is loaded on demand. */
const READ_BUILT = `
  const built = (name) => import(new URL(name, process.argv[1]));
  const { DocumentProcess } = await built('./document-process.js');
  const { startDocumentChild } = await built('./start-document-child.js');
  const { DEFAULT_DOCUMENT_LIMITS: limits } = await built('./document-limits.js');
  const { readFileSync } = await import('node:fs');
  await using child = new DocumentProcess(startDocumentChild);
  for (const path of process.argv.slice(2)) {
    const source = { bytes: new Uint8Array(readFileSync(path)), contentType: null, name: path, kind: 'input_file' };
    const file = await child.read({ source, limits, pdf: false }, new AbortController().signal);
    console.log(file.mediaType, file.bytes.length > 100);
  }
`;

test('built code reads documents in a folder with spaces and links', async (t) => {
  const top = temporaryFolder();
  t.after(() => rmSync(top, { recursive: true }));
  const modules = join(top, 'my server, (first)', 'node_modules');
  const source = import.meta.dirname;
  const built = join(modules, '@runwire/documents/dist');
  for (const name of modulesBelow(source)) {
    const code = stripTypeScriptTypes(readFileSync(join(source, name), 'utf8'));
    const path = join(built, name.replace(/ts$/, 'js'));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, code.replaceAll(/(['"]\.[^'"]*)\.ts(['"])/g, '$1.js$2'));
  }
  writeFileSync(join(built, '../package.json'), '{"type":"module"}');
  for (const name of [...READER_PACKAGES, '@runwire/lib']) {
    const file = findPackageJSON(name, import.meta.url) ?? '';
    symlinkSync(dirname(file), join(modules, name));
  }
  const files = ['chromium.pdf', 'pandoc.docx', 'report.html'].map((name) =>
    join(import.meta.dirname, 'fixtures', name),
  );
  const folder = pathToFileURL(`${built}/`).href;
  const args = ['-C', 'runwire', '--input-type=module', '-e', READ_BUILT, folder, ...files];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 60_000 });
  const types = stdout.trim().split('\n');
  assert.deepEqual(types, [
    'application/pdf true',
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document true',
    'text/html true',
  ]);
});
