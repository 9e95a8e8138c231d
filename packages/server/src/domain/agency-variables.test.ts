import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cites } from '../../../../requirements/cite.ts';
import { agencyVariables } from './agency-variables.ts';

const SERVER = {
  RUNWIRE_SECRET: 'a',
  RUNWIRE_API_KEY: 'b',
  RUNWIRE_PORT: '8787',
  DATABASE_URL: 'c',
  PGPASSWORD: 'd',
  pghost: 'e',
  OTEL_EXPORTER_OTLP_HEADERS: 'f',
  AWS_SECRET_ACCESS_KEY: 'g',
  S3_ENDPOINT: 'h',
  OPENAI_API_KEY: 'i',
  EMPTY: undefined,
};

test('code of agencies gets the variables of the server without its own', (t) => {
  cites(t, 'agents-29-environment');
  const { env, withheld } = agencyVariables(SERVER, true);
  assert.deepEqual(env, { RUNWIRE_PORT: '8787', OPENAI_API_KEY: 'i' });
  const always = [
    'RUNWIRE_SECRET',
    'RUNWIRE_API_KEY',
    'DATABASE_URL',
    'PGPASSWORD',
    'pghost',
    'OTEL_EXPORTER_OTLP_HEADERS',
  ];
  assert.deepEqual(withheld, [...always, 'AWS_SECRET_ACCESS_KEY', 'S3_ENDPOINT']);
  assert.deepEqual(agencyVariables(SERVER, false).withheld, always, 'the server uses no S3');
});
