import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { CHILD_ARGUMENTS } from './start-document-child.ts';

/** Each tells `done`, or the code it was refused with. */
const TRIES = `
  const outcomes = {};
  const attempt = async (name, work) => {
    outcomes[name] = await new Promise((resolve, reject) => work(resolve, reject)).then(() => 'done', (error) => /ERR_ACCESS_DENIED/.exec([error.code, error.message, error.cause?.code])?.[0] ?? String(error));
  };
  const fs = require('node:fs');
  const [url, file] = process.argv.slice(-2);
  await attempt('fetch', (resolve, reject) => fetch(url).then(resolve, reject));
  await attempt('connect', (resolve, reject) => require('node:net').connect(new URL(url).port, '127.0.0.1', resolve).on('error', reject));
  await attempt('send', (resolve, reject) => require('node:dgram').createSocket('udp4').on('error', reject).send('x', 9, '127.0.0.1', (error) => error ? reject(error) : resolve()));
  await attempt('resolve', (resolve, reject) => require('node:dns').lookup('localhost', (error) => error ? reject(error) : resolve()));
  await attempt('write', (resolve) => resolve(fs.writeFileSync(file, 'x')));
  await attempt('start', (resolve) => resolve(require('node:child_process').execFileSync(process.execPath, ['-v'])));
  await attempt('read', (resolve) => resolve(fs.readFileSync(process.execPath).length));
  return outcomes;
`;

/** Where documents are read: in a thread of that process. */
const IN_THREAD = `
  const { Worker } = require('node:worker_threads');
  const attempts = async () => {${TRIES}};
  const print = (outcomes) => process.stdout.write(JSON.stringify(outcomes), () => process.exit());
  const source = 'require("node:worker_threads").parentPort.postMessage';
  new Worker('(' + attempts + ')().then((all) => ' + source + '(all))', { eval: true, argv: process.argv.slice(-2) }).once('message', print);
`;
const IN_PROCESS = `(async () => {${TRIES}})().then((outcomes) => process.stdout.write(JSON.stringify(outcomes), () => process.exit()));`;

async function outcomesOf(script: string, args: readonly string[]): Promise<Record<string, string>> {
  const server = createServer((_, answer) => answer.end('here')).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [...args, '-e', script, url, '/dev/null'], {
      env: {},
      timeout: 60_000,
    });
    return JSON.parse(stdout);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

for (const [where, script] of Object.entries({ process: IN_PROCESS, thread: IN_THREAD })) {
  test(`the ${where} that reads documents may read, and has no network, writes no file and starts no program`, async () => {
    const { read, ...others } = await outcomesOf(script, CHILD_ARGUMENTS);
    assert.equal(read, 'done');
    for (const [name, outcome] of Object.entries(others)) assert.equal(outcome, 'ERR_ACCESS_DENIED', name);
    // What is tried works where it is allowed.
    assert.deepEqual(new Set(Object.values(await outcomesOf(script, []))), new Set(['done']));
  });
}
