import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { runInNewContext } from 'node:vm';
import { compatibleSamples } from '../packages/console/src/pages/integrations/compatible-snippets.ts';
import { curlSnippet, pythonSnippet, typescriptSnippet } from '../packages/console/src/pages/integrations/snippets.ts';

const url = 'http://127.0.0.1:8787/tools/runwire';
const integration = 'shop';
/** Members are named by the owner's backend, so they may contain everything. */
const MEMBERS = ["o'neil", 'say "hi"', 'C:\\temp\\', '$(reboot) `reboot`', 'two\nlines', 'é 日本 🙂'];

/** The arguments that a shell gives to curl. */
function curlArguments(snippet: string): string[] {
  const script = `curl() { for one in "$@"; do printf '%s\\0' "$one"; done; }\n${snippet}`;
  const env = { PATH: process.env.PATH ?? '', RUNWIRE_API_KEY: 'the key' };
  return execFileSync('sh', ['-c', script], { env }).toString().split('\0');
}

test('the curl sample sends the address, the key and a new request', () => {
  const sent = curlArguments(curlSnippet({ url, integration, request: { message: 'Hello' } }));
  assert.ok(sent.includes(`${url}/get_completion_v2`));
  assert.ok(sent.includes('Authorization: Bearer the key'));
  const { usageRequestId, ...body } = JSON.parse(sent.at(-2) ?? '');
  assert.deepEqual(body, { apiIntegrationId: integration, message: 'Hello' });
  assert.match(usageRequestId, /^hello-\d+$/);
});

for (const member of MEMBERS) {
  test(`the samples name the member ${JSON.stringify(member)} unchanged`, () => {
    const input = { url, integration, request: { message: 'Hello', consumerId: member } };
    assert.equal(JSON.parse(curlArguments(curlSnippet(input)).at(-2) ?? '').consumerId, member);
    const [, typescript = ''] = /consumerId: ('.*') \}/.exec(typescriptSnippet(input)) ?? [];
    assert.equal(runInNewContext(typescript), member);
    const [, python = ''] = /consumer_id=(".*")\)/.exec(pythonSnippet(input)) ?? [];
    assert.equal(JSON.parse(python), member);
  });
}

test('the samples have every field of a request', () => {
  const user_context = { plan: "o'neil", isNew: true, parent: null, sizes: [1, 'two\n'] };
  const request = { message: 'Hi', agent: undefined, chatId: 'c-1', user_context };
  const input = { url, integration, request };
  const { usageRequestId: _, ...body } = JSON.parse(curlArguments(curlSnippet(input)).at(-2) ?? '');
  assert.deepEqual(body, { apiIntegrationId: integration, message: 'Hi', chatId: 'c-1', user_context });
  const [, typescript = ''] = /client\.run\((\{[\s\S]*?\n?\})\);/.exec(typescriptSnippet(input)) ?? [];
  const { message, chatId, user_context: sent } = runInNewContext(`(${typescript})`);
  assert.equal(JSON.stringify([message, chatId, sent]), JSON.stringify(['Hi', 'c-1', user_context]));
  const [, python = ''] = /user_context=(.*),\n/.exec(pythonSnippet(input)) ?? [];
  assert.equal(python, String.raw`{"plan": "o'neil", "isNew": True, "parent": None, "sizes": [1, "two\n"]}`);
});

test('the samples of compatible APIs name the base URL, and the member unchanged', () => {
  for (const member of [null, ...MEMBERS]) {
    const samples = compatibleSamples({ url, integration: 'a/b', member });
    for (const { api, baseUrl, code } of samples) {
      assert.ok(baseUrl.startsWith(`${url}/v2/integrations/a%2Fb/${api}`), baseUrl);
      assert.ok(code.includes(baseUrl), api);
    }
    if (member === null) continue;
    const code = (name: string) => samples.find(({ api }) => api === name)?.code ?? '';
    const [, openai = ''] = /safety_identifier: ('.*'),/.exec(code('openai')) ?? [];
    assert.equal(runInNewContext(openai), member);
    const [, agUi = ''] = /'X-Runwire-Consumer-Id': ('.*'),/.exec(code('ag-ui')) ?? [];
    assert.equal(runInNewContext(agUi), member);
    const { mcpServers } = JSON.parse(code('mcp'));
    assert.equal(mcpServers['a/b'].headers['X-Runwire-Consumer-Id'], member);
  }
});
