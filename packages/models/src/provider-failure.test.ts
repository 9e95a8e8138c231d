import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failureOfEvent, failureOfStatus, NO_ADVICE } from './provider-failure.ts';
import { withoutResponses } from './provider-models.ts';
import { providerSettingNames } from './providers.ts';

const asked = { model: 'm', apiKey: 'sk-1', settings: providerSettingNames('openai') };

/** Makes an error that is nested in errors. */
function nested(depth: number): string {
  return `${'{"error":'.repeat(depth)}{"message":"Deep.","code":"server_error"}${'}'.repeat(depth)}`;
}

test('finds an error in each place that providers use', () => {
  const error = { message: 'Oops.', code: 'server_error' };
  for (const event of [error, { error }, { response: { error } }, { error: { response: { error } } }]) {
    const { failure, retryable } = failureOfEvent(asked, event);
    assert.deepEqual([failure.message, retryable], ['The model provider reported an error: Oops.', true]);
  }
});

test('a deeply nested error is an error like any other', () => {
  const { failure, retryable } = failureOfEvent(asked, JSON.parse(nested(1_000_000)));
  assert.deepEqual([failure.code, retryable], ['model_error', false]);
  assert.equal(failure.message, 'The model provider reported an error.');
  assert.match(
    failureOfStatus(asked, 400, nested(1_000_000), NO_ADVICE).failure.message,
    /refused the request \(400\)\.$/,
  );
});

test('only the 404 of a compatible server names the other protocol', () => {
  const toMessage = (api: 'responses' | 'chat', baseUrl: string) => {
    const target = { ...asked, withoutResponses: withoutResponses({ name: 'openai', api, baseUrl }) };
    return failureOfStatus(target, 404, '', NO_ADVICE).failure.message;
  };
  assert.match(
    toMessage('responses', 'http://127.0.0.1:8000/v1'),
    /OPENAI_BASE_URL\. .* set RUNWIRE_OPENAI_API=chat\.$/,
  );
  for (const message of [toMessage('responses', 'https://api.openai.com/v1'), toMessage('chat', 'http://127.0.0.1/v1')])
    assert.match(message, /check the name of the model and OPENAI_BASE_URL\.$/);
});
