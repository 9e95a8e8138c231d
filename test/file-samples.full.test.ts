import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { promisify } from 'node:util';
import { startTestServer, TEST_API_KEY, type TestServer, temporaryFolder } from '@runwire/test-kit';
import { Chromium } from './support/chromium.ts';
import { root } from './support/cli-process.ts';
import { listSamples, paste } from './support/doc-samples.ts';
import { missingService } from './support/services.ts';
import { upload } from './support/uploads.ts';

const run = promisify(execFile);
const noCurl = (await missingService('curl')) ?? false;
const noChromium = (await missingService('chromium')) ?? false;

let samples: Readonly<Record<string, string>> = {};
const shell = listSamples('docs/files.md', 'sh');
before(() => {
  const text = readFileSync(join(root, 'docs/files.md'), 'utf8');
  const found = [...text.matchAll(/^```(sh|js|html)\n([\s\S]*?)^```$/gm)];
  // The first sample of each language.
  samples = Object.fromEntries(found.toReversed().map(([, language = '', sample = '']) => [language, sample]));
});

const content = async ({ url, api }: TestServer, path: string) => {
  const address = `${url}/v2/integrations/demo/files/content?path=${encodeURIComponent(path)}`;
  return (await fetch(address, { headers: api.authorization })).text();
};

test('the sample with curl works as pasted: the agent reads what was uploaded', { skip: noCurl }, async (t) => {
  await using server = await startTestServer();
  const folder = temporaryFolder();
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const script = `set -e\nmkdir -p "$HOME"; cd "$HOME"\ncurl() { command curl -sS --fail-with-body "$@"; echo; }\n${samples.sh}`;
  const { stdout } = await run('sh', ['-c', script], {
    env: { PATH: process.env.PATH, HOME: folder, URL: server.url, KEY: TEST_API_KEY },
    timeout: 60_000,
  });
  assert.match(stdout, /^204$/m);
  assert.match(stdout, /Green is for go\./);
  assert.match(stdout, /event: end\n/);
});

test('the samples about access, lists and deletes work as pasted', { skip: noCurl }, async (t) => {
  await using server = await startTestServer();
  const env = { URL: server.url, KEY: TEST_API_KEY };
  await upload(server.api, 'Green is for go.', { folder: '/app/mnt/members/ann', filename: 'signals.txt' });
  const access = await paste(t, shell[1] ?? '', env);
  assert.match(access, /"fileAccess":"member","memberFolder":"\/app\/mnt\/members\/\{consumerId\}"/);
  assert.match(access, /"consumerId":"ann".*"folder":"\/app\/mnt\/members\/ann"/);
  const printed = await paste(t, shell[3] ?? '', env);
  assert.match(printed, /"path":"\/app\/mnt\/members\/ann\/signals\.txt".*\nGreen is for go\./);
  const { body } = await server.api.get('/v2/integrations/demo/files');
  assert.deepEqual(body.items, []);
});

test('the sample for Node works as pasted', async (t) => {
  await using server = await startTestServer();
  const file = `${temporaryFolder()}.mjs`;
  t.after(() => rmSync(file, { force: true }));
  writeFileSync(file, samples.js ?? '');
  const env = { PATH: process.env.PATH, URL: server.url, KEY: TEST_API_KEY };
  const { stdout } = await run(process.execPath, [file], { env, timeout: 60_000 });
  assert.equal(stdout, '/app/mnt/members/ann/stop.txt\n');
  assert.equal(await content(server, stdout.trim()), 'Red is for stop.\n');
});

test('the sample for a page works in a browser, from another origin', { skip: noChromium }, async () => {
  await using server = await startTestServer();
  const { promise: title, resolve } = Promise.withResolvers<string>();
  /** Chooses a file as a person would, and reports the text that the page then shows. */
  const act = `<script type="module">
    const input = document.querySelector('#file');
    const chosen = new DataTransfer();
    chosen.items.add(new File(['Amber is for wait.'], 'wait ü.txt', {type: 'text/plain'}));
    input.files = chosen.files;
    input.dispatchEvent(new Event('change'));
    while (document.title === '') await new Promise((again) => setTimeout(again, 20));
    await fetch('/title', {method: 'POST', body: document.title});
  </script>`;
  const page = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    if (request.url === '/sign') {
      const terms = { apiIntegrationId: 'demo', folder: '/app/mnt/members/bea', ...JSON.parse(body) };
      const signed = await server.api.post('/create_agency_upload', terms);
      response.writeHead(signed.status, { 'content-type': 'application/json' }).end(JSON.stringify(signed.body));
    } else if (request.url === '/title') {
      response.end();
      resolve(body);
    } else {
      const head = '<!doctype html><meta charset="utf-8">';
      response.setHeader('content-type', 'text/html').end(head + samples.html + act);
    }
  });
  await new Promise<void>((listening) => page.listen(0, '127.0.0.1', listening));
  try {
    await using _browser = Chromium.open(`http://127.0.0.1:${(page.address() as AddressInfo).port}/`);
    assert.equal(await title, '/app/mnt/members/bea/wait ü.txt');
  } finally {
    page.closeAllConnections();
    page.close();
  }
  assert.equal(await content(server, await title), 'Amber is for wait.');
});
