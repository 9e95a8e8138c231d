import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { InvalidRequestError, verifyWebhook, type WebhookHeaders, WebhookVerificationError } from '@runwire/client';
import { Webhook } from 'standardwebhooks';
import { Python } from './support/python.ts';
import { missingService } from './support/services.ts';

/* Both clients check signatures that the reference library of Standard Webhooks made. */

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const OTHER = `whsec_${Buffer.alloc(32, 251).toString('base64')}`;
const EVENT = { type: 'webhook.test', timestamp: '2030-01-01T00:00:00.000Z', data: { apiIntegrationId: 'Größe 🙂' } };
const BODY = JSON.stringify(EVENT);
const VERIFIED = { ...EVENT, eventId: 'evt_1' };

type Headers = Record<string, string>;

interface Case {
  readonly name: string;
  readonly body?: string;
  /** Signs when it is called: the tests of a process can run minutes after this file was loaded. */
  readonly headers: () => Headers;
  readonly secret?: string | readonly string[];
  /** The error's message. None if the webhook is verified. */
  readonly refused?: RegExp;
}

function sign(ageSeconds = 0, { body = BODY, secret = SECRET } = {}): Headers {
  const at = new Date(Date.now() - ageSeconds * 1000);
  return {
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign('evt_1', at, body),
  };
}

const without = (name: string) => Object.fromEntries(Object.entries(sign()).filter(([key]) => key !== name));
const upper = () => Object.fromEntries(Object.entries(sign()).map(([name, value]) => [name.toUpperCase(), value]));
const signature = (headers: Headers) => headers['webhook-signature'] ?? '';
const twoSecrets = () => ({
  ...sign(),
  'webhook-signature': `v1,AAAA ${signature(sign(0, { secret: OTHER }))} v1a,ignored ${signature(sign())}`,
});

const CASES: readonly Case[] = [
  { name: 'a signed body', headers: () => sign() },
  { name: 'header names in any case', headers: upper },
  { name: 'several signatures', headers: twoSecrets },
  { name: 'several secrets', headers: () => sign(0, { secret: OTHER }), secret: [SECRET, OTHER] },
  { name: 'a body that is 4 minutes old', headers: () => sign(240) },
  { name: 'a clock that is 4 minutes ahead', headers: () => sign(-240) },
  {
    name: 'a body that is 6 minutes old',
    headers: () => sign(360),
    refused: /`webhook-timestamp` is 36\d s older than/,
  },
  {
    name: 'a clock that is 6 minutes ahead',
    headers: () => sign(-360),
    refused: /`webhook-timestamp` is 3\d\d s ahead of/,
  },
  {
    ...{ name: 'a timestamp that is no time', headers: () => ({ ...sign(), 'webhook-timestamp': '1e9' }) },
    refused: /`webhook-timestamp` is not a time in seconds/,
  },
  {
    ...{
      name: 'another timestamp',
      headers: () => ({ ...sign(), 'webhook-timestamp': sign(9)['webhook-timestamp'] ?? '' }),
    },
    refused: /No signature/,
  },
  { name: 'another id', headers: () => ({ ...sign(), 'webhook-id': 'evt_2' }), refused: /No signature/ },
  { name: 'half a surrogate pair', body: '{"type":"\ud800"}', headers: () => sign(), refused: /No signature/ },
  { name: 'another body', body: `${BODY} `, headers: () => sign(), refused: /No signature .* before any parser/ },
  {
    name: 'another secret',
    headers: () => sign(),
    secret: OTHER,
    refused: /No signature .* the secret is another one/,
  },
  { name: 'an empty signature', headers: () => ({ ...sign(), 'webhook-signature': 'v1,' }), refused: /No signature/ },
  {
    ...{ name: 'a cut signature', headers: () => ({ ...sign(), 'webhook-signature': signature(sign()).slice(0, -1) }) },
    refused: /No signature/,
  },
  {
    ...{ name: 'a signature of another version' },
    headers: () => ({ ...sign(), 'webhook-signature': signature(sign()).replace('v1,', 'v2,') }),
    refused: /No signature/,
  },
  ...['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => ({
    ...{ name: `no ${name}`, headers: () => without(name), refused: new RegExp(`\`${name}\` is missing`) },
  })),
  {
    name: 'a signed body that is no event',
    body: '[1]',
    headers: () => sign(0, { body: '[1]' }),
    refused: /not an event/,
  },
  {
    name: 'a signed body that is no JSON',
    body: 'hi',
    headers: () => sign(0, { body: 'hi' }),
    refused: /not an event/,
  },
];
const MISTAKES = ['', 'whsec_', 'whsec_ü', SECRET.slice(6), []];

describe('the TypeScript client', () => {
  for (const { name, body = BODY, headers, secret = SECRET, refused } of CASES) {
    test(`${refused ? 'refuses' : 'accepts'} ${name}`, async () => {
      const verify = () => verifyWebhook(body, headers(), secret);
      if (!refused) return assert.deepEqual(await verify(), VERIFIED);
      await assert.rejects(verify, (error) => {
        assert.ok(error instanceof WebhookVerificationError);
        assert.deepEqual([error.name, error.code], ['WebhookVerificationError', 'webhook_not_verified']);
        assert.match(error.message, refused);
        return true;
      });
    });
  }

  test('takes bodies and headers as platforms pass them', async () => {
    const bytes = new TextEncoder().encode(BODY);
    const inside = Buffer.from(`<${BODY}>`).subarray(1, -1);
    for (const body of [BODY, bytes, bytes.buffer, Buffer.from(BODY), inside]) {
      assert.deepEqual(await verifyWebhook(body, sign(), SECRET), VERIFIED);
    }
    const listed = Object.fromEntries(Object.entries(sign()).map(([name, value]) => [name, [value]]));
    const some: readonly WebhookHeaders[] = [new Headers(upper()), new Map(Object.entries(sign())) as never, listed];
    for (const headers of some) assert.deepEqual(await verifyWebhook(BODY, headers, SECRET), VERIFIED);
  });

  test('respects another tolerance', async () => {
    await verifyWebhook(BODY, sign(3000), SECRET, { toleranceSeconds: 3600 });
    await assert.rejects(verifyWebhook(BODY, sign(60), SECRET, { toleranceSeconds: 10 }), WebhookVerificationError);
  });

  test('names mistakes of the caller', async () => {
    for (const secret of MISTAKES) await assert.rejects(verifyWebhook(BODY, sign(), secret), InvalidRequestError);
    await assert.rejects(verifyWebhook(EVENT as never, sign(), SECRET), /the body as it arrived, not the parsed JSON/);
  });
});

describe('the Python client', { skip: (await missingService('python')) ?? false }, () => {
  const python = Python.shared();
  const VERIFY = 'return verify_webhook(body, headers, secret)';

  for (const { name, body = BODY, headers, secret = SECRET, refused } of CASES) {
    test(`${refused ? 'refuses' : 'accepts'} ${name}`, async () => {
      const given = { body, headers: headers(), secret };
      if (!refused) return assert.deepEqual(await python.run(VERIFY, given), VERIFIED);
      const error = await python.fail(VERIFY, given);
      assert.deepEqual([error.class, error.code], ['WebhookVerificationError', 'webhook_not_verified']);
      assert.match(error.message, refused);
    });
  }

  test('takes bytes, other headers and another tolerance', async () => {
    const code = `
      from email.message import Message
      message = Message()
      for name, value in headers.items():
          message[name] = value
      assert verify_webhook(body.encode(), message, secret) == verify_webhook(bytearray(body.encode()), headers, secret)
      try:
          verify_webhook(body, headers, secret, tolerance_seconds=-1)
      except WebhookVerificationError:
          return True
    `;
    assert.equal(await python.run(code, { body: BODY, headers: sign(), secret: SECRET }), true);
  });

  test('names mistakes of the caller', async () => {
    const code = `
      mistakes = []
      for secret in secrets:
          try:
              verify_webhook(body, headers, secret)
          except ValueError as error:
              mistakes.append(str(error))
      try:
          verify_webhook({}, headers, secret)
      except ValueError as error:
          mistakes.append(str(error))
      return mistakes
    `;
    const mistakes = await python.run<string[]>(code, { body: BODY, headers: sign(), secrets: MISTAKES });
    assert.equal(mistakes.length, MISTAKES.length + 1);
    assert.match(mistakes.at(-1) ?? '', /the body as it arrived, not the parsed JSON/);
  });
});
