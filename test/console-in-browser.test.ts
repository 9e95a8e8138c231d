import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import { cites } from '../requirements/cite.ts';
import { axeFindings } from './console/axe-check.ts';
import { ConsoleRig } from './console/console-rig.ts';
import { chooseInProfile } from './console/sign-in-pages.ts';
import type { Files } from './support/agencies-folder.ts';
import { eventually } from './support/eventually.ts';
import { missingService } from './support/services.ts';

const noChromium = (await missingService('chromium')) ?? false;

const TILL: Files = {
  'till/agency.yaml':
    'name: Till\ntoolFiles: [./tools.ts]\nagents: [{ name: Clerk, instructions: You help., tools: [open_till] }]\n',
  'till/tools.ts': `export const open_till = {
  inputSchema: { type: 'object' },
  execute: () => new Promise(() => setTimeout(() => { throw new Error('The till is stuck.'); }, 1)),
};
`,
};

// `npm run prove -- console` visits every page.
test('a person sets a password and creates an API key in a browser', { skip: noChromium }, async (t) => {
  cites(t, 'spec-5-where');
  await using rig = await ConsoleRig.start({ agencies: TILL });
  const page = await rig.openPage();
  const watch = rig.watchOf(page);
  await rig.signIn(page);
  await chooseInProfile(page, 'API keys');
  await page.getByRole('button', { name: 'Create key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('backend');
  await dialog.getByRole('button', { name: 'Create key' }).click();
  const key = await dialog.getByRole('region', { name: 'API key' }).innerText();
  assert.equal((await rig.api.as(key.trim()).get('/v2/me')).status, 200);
  await dialog.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('row', { name: /^backend active/ }).waitFor();
  await watch.quiet();
  assert.deepEqual(await axeFindings(watch.session), []);
  await seesTurnsOfOtherTabs(rig, page);
  await seesFaultOfProcess(rig, page);
  assert.deepEqual(watch.takeProblems(), []);

  await t.test('the TypeScript client runs in a page of another origin without an aborted request', async () => {
    await rig.api.put('/v2/integrations/demo/members/ann', {});
    const { body } = await rig.api.post('/v2/integrations/demo/client_tokens', { consumerId: 'ann' });
    const { outputFiles } = await build({
      stdin: {
        contents: `import { Runwire } from '@runwire/client';
          globalThis.ask = (baseUrl, tokens) =>
            new Runwire({ baseUrl, apiKey: async () => tokens.shift() }).run({ message: 'Hello' }).text();`,
        resolveDir: import.meta.dirname,
      },
      ...{ bundle: true, format: 'iife', conditions: ['runwire'], write: false },
    });
    const other = await rig.browser.newPage();
    const failed: string[] = [];
    const finished: string[] = [];
    const describeRequest = (request: { method(): string; url(): string }) =>
      `${request.method()} ${new URL(request.url()).pathname}`;
    other.on('requestfailed', (request) => failed.push(`${describeRequest(request)} ${request.failure()?.errorText}`));
    other.on('requestfinished', (request) => finished.push(describeRequest(request)));
    await other.addScriptTag({ content: outputFiles[0]?.text ?? '' });
    // The first token is refused, so that the page reads a refusal too.
    const refused = `${body.clientToken.slice(0, -8)}AAAAAAAA`;
    await using proxy = await LateEnds.start(rig.baseUrl);
    const script = `ask(${JSON.stringify(proxy.url)}, ${JSON.stringify([refused, body.clientToken])})`;
    assert.match(String(await other.evaluate(script)), /is on its way/);
    await eventually('both requests', async () => finished.length + failed.length >= 2);
    assert.deepEqual([failed, finished], [[], ['POST /get_completion_v2', 'POST /get_completion_v2']]);
  });
});

/** A tool ends the process of its agency. The page of the agency shows the new process and what happened. */
async function seesFaultOfProcess(rig: ConsoleRig, page: Page): Promise<void> {
  await rig.api.post('/v2/integrations', { apiIntegrationId: 'till', agency: 'till' });
  const answer = await rig.api.post('/get_completion_v2', { apiIntegrationId: 'till', message: 'tool open_till {}' });
  await eventually('a new process', async () => {
    const { body } = await rig.api.get('/v2/agencies');
    return body.items[0].process.restarts === 1 && body.items[0].process.state === 'running';
  });
  await page.goto(rig.url('agencies/till'));
  const shown = page.getByRole('region', { name: 'Process', exact: true });
  await shown.getByText('The till is stuck.').waitFor();
  const facts = await shown.getByRole('definition').allInnerTexts();
  const [state, memory, restarts, pid, , tool, call = '', runId] = facts;
  const run = answer.headers.get('x-run-id');
  assert.deepEqual([state, restarts, tool, runId], ['running', '1', 'open_till', run]);
  assert.match(call, /^call_/);
  assert.match(`${memory} ${pid}`, /^(not measured|[\d.]+ MB) \d+$/);
}

/** A proxy that ends each answer a moment after its last byte. */
class LateEnds implements AsyncDisposable {
  readonly url: string;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start(target: string): Promise<LateEnds> {
    const server = createServer((incoming, outgoing) => {
      const { method, headers } = incoming;
      const passed = request(`${target}${incoming.url}`, { method, headers }, (answer) => {
        const { 'content-length': _, ...rest } = answer.headers;
        outgoing.writeHead(answer.statusCode ?? 502, rest);
        answer.pipe(outgoing, { end: false });
        answer.on('end', () => setTimeout(() => outgoing.end(), 200));
      });
      incoming.pipe(passed);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new LateEnds(server);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await this.#server[Symbol.asyncDispose]();
  }
}

/** Two tabs have the same chat. Each shows what the other one sends. */
async function seesTurnsOfOtherTabs(rig: ConsoleRig, page: Page): Promise<void> {
  const send = async (tab: Page, message: string) => {
    await tab.getByRole('textbox', { name: 'Message' }).fill(message);
    await tab.getByRole('button', { name: 'Send' }).and(tab.locator('[aria-disabled="false"]')).click();
  };
  const answers = (tab: Page) => tab.getByRole('article', { name: 'Answer' });
  await page.goto(rig.url('integrations/demo/playground'));
  await send(page, 'tool absent {}');
  const isFailed = answers(page).getByRole('group').getByText('failed', { exact: true });
  await isFailed.and(page.locator('.badge-bad')).waitFor();
  await page.waitForURL(/chat=/);
  const other = await page.context().newPage();
  await other.goto(page.url());
  await answers(other).getByRole('link', { name: 'Open the run' }).waitFor();
  await send(other, 'team up');
  await answers(page).nth(1).getByRole('heading', { name: 'Guide', exact: true }).waitFor();
  await answers(page).nth(1).getByRole('link', { name: 'Open the run' }).waitFor();
}
