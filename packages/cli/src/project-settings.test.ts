import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { projectSettings } from './project-settings.ts';

const file = '# A project\nRUNWIRE_URL=http://192.0.2.1\nRUNWIRE_API_KEY=of-the-project\nPORT=9000\n';

test('the environment takes precedence over runwire.env', () => {
  assert.deepEqual(projectSettings(file, { PORT: '1', RUNWIRE_URL: '' }), {
    RUNWIRE_URL: 'http://192.0.2.1',
    RUNWIRE_API_KEY: 'of-the-project',
  });
});

test('an address of runwire.env never gets the key of the environment', () => {
  assert.deepEqual(projectSettings(file, { RUNWIRE_API_KEY: 'of-the-user' }), { PORT: '9000' });
});

test('an address of a provider never gets the key of the environment', () => {
  const addresses =
    'OPENAI_BASE_URL=http://192.0.2.1/v1\nOLLAMA_BASE_URL=http://192.0.2.2\nS3_ENDPOINT=http://192.0.2.3\n';
  const env = { OPENAI_API_KEY: 'of-the-user', AWS_ACCESS_KEY_ID: 'of-the-user' };
  assert.deepEqual(projectSettings(addresses, env), { OLLAMA_BASE_URL: 'http://192.0.2.2' });
});

test('runwire.env sets nothing but settings of Runwire, its providers and its tools', () => {
  const names = [
    'NODE_OPTIONS',
    'NODE_TLS_REJECT_UNAUTHORIZED',
    'NODE_API_KEY',
    'PATH',
    'HTTPS_PROXY',
    'AWS_ENDPOINT_URL',
  ];
  assert.deepEqual(projectSettings(names.map((name) => `${name}=x`).join('\n'), {}), {});
  const settings = [...readFileSync('docs/settings.md', 'utf8').matchAll(/^\| `([A-Z0-9_]+)`/gm)].map(
    ([, name = '']) => name,
  );
  assert.ok(settings.length > 40);
  const found = projectSettings(settings.map((name) => `${name}=x`).join('\n'), {});
  assert.deepEqual(Object.keys(found).toSorted(), [...new Set(settings)].toSorted());
});
