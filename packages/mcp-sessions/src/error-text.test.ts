import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorText } from './error-text.ts';
import type { McpAddress } from './mcp-address.ts';

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
  oauth: { clientId: 'client', clientSecret: 'client-secret', scope: null, issuer: null },
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

test('no error shows the body of an answer', () => {
  const http = Object.assign(new Error('Error POSTing to endpoint: <b>body</b>'), {
    data: { status: 502, text: '<b>body</b>' },
  });
  const oauth = new Error('HTTP 500: Invalid OAuth error response: SyntaxError: x. Raw body: first\nsecond body');
  for (const [error, shown] of [
    [http, 'The server answered with status 502.'],
    [oauth, 'HTTP 500: The authorization server sent no OAuth error.'],
    [
      new SyntaxError('Unexpected token \'b\', "body" is not valid JSON'),
      'The server sent an answer that is not JSON.',
    ],
  ] as const) {
    assert.equal(errorText(error, site), shown);
  }
});
