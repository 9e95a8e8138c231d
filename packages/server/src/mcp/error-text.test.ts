import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { McpAddress } from '../agent/mcp-port.ts';
import { errorText } from './error-text.ts';

const program: McpAddress = {
  kind: 'stdio',
  command: 'serve',
  args: ['--token', 'argument-token'],
  env: { KEY: 'two  words', SHORT: 'abc' },
  cwd: null,
  secrets: ['argument-token', 'argument-token-2'],
};
const site: McpAddress = {
  kind: 'http',
  url: 'https://example.com/mcp?key=url-token',
  headers: { Authorization: 'Bearer header-token' },
  oauth: { clientId: 'client', clientSecret: 'client-secret', scope: null },
  secrets: ['url-token'],
};

test('no error shows a value of headers, of `env`, of a variable or a client secret', () => {
  for (const [text, shown, address] of [
    ['refused argument-token here', 'refused *** here', program],
    ['refused argument-token-2', 'refused ***', program],
    ['bad two\n words, abc', 'bad ***, abc', program],
    ['at https://example.com/mcp?key=url-token', 'at https://example.com/mcp?key=***', site],
    ['Bearer header-token, header-token, client-secret, client', '***, ***, ***, client', site],
  ] as const) {
    assert.equal(errorText(new Error(text), address), shown);
    assert.equal(errorText(new Error('failed', { cause: new Error(text) }), address), `failed: ${shown}`);
  }
});

test('errors are one short line', () => {
  const text = errorText(new Error(`a\n\n${'x'.repeat(1000)}`), site);
  assert.match(text, /^a x{298}…$/);
});
