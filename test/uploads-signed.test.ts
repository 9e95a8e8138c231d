import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { crc32 } from 'node:zlib';
import { hookStore, type RawForm, STORES, type StoreName, StoreUnavailable, toParts } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { runwire } from './support/cli-process.ts';
import { changed, says, without } from './support/upload-answers.ts';
import { FILE, UploadServer } from './support/upload-server.ts';

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  let set: UploadServer;
  before(async () => {
    set = await UploadServer.start({ store, limits: { uploadIdleMs: 5_000 } });
  });
  after(() => set[Symbol.asyncDispose]());

  test('a signed form stores its whole file and returns its address and etag', async (t) => {
    cites(
      t,
      'spec-4.2-step-1',
      'spec-4.2-step-2',
      'spec-4.2-step-3',
      'contract-2-without-key-upload',
      'contract-7-etag',
    );
    const answer = await set.post(set.parts({ key: 'a folder/größe.png' }));
    says(answer, 204, null);
    assert.equal(answer.headers.etag, `"${createHash('md5').update(FILE).digest('hex')}"`);
    assert.equal(answer.headers.location, `${set.url()}/a%20folder%2Fgr%C3%B6%C3%9Fe.png`);
    assert.equal(answer.headers['content-type'], undefined);
    assert.deepEqual(await set.read('a folder/größe.png'), FILE);
  });

  test('a later upload of the same form replaces the file and makes no second', async (t) => {
    cites(t, 'contract-7-upload-atomic');
    const parts = set.parts({ key: 'twice.txt', sizeBytes: 5 }, 'first');
    says(await set.post(parts), 204, null);
    says(await set.post([...without(parts, 'file'), { name: 'file', value: 'later' }]), 204, null);
    assert.equal(String(await set.read('twice.txt')), 'later');
  });

  test('refuses expired forms and unsigned changes, and stores nothing', async (t) => {
    cites(t, 'contract-7-post-policy', 'spec-4.2-step-4');
    const good = set.parts();
    const now = Date.now();
    await set.refuses(403, 'AccessDenied', set.parts({ signedAt: now - 900_001, expiresAt: now - 1 }));
    const tampered = Buffer.from(JSON.stringify({ expiration: '2999-01-01T00:00:00Z', conditions: [] })).toString(
      'base64',
    );
    await set.refuses(403, 'SignatureDoesNotMatch', changed(good, 'policy', tampered));
    await set.refuses(403, 'SignatureDoesNotMatch', changed(good, 'x-amz-signature', 'f'.repeat(64)));
    await set.refuses(403, 'AccessDenied', changed(good, 'key', 'pictures/dog.png'));
    await set.refuses(403, 'AccessDenied', changed(good, 'Content-Type', 'text/html'));
    await set.refuses(403, 'AccessDenied', [{ name: 'acl', value: 'public-read' }, ...good]);
    await set.refuses(403, 'AccessDenied', [{ name: 'key', value: 'pictures/cat.png' }, ...good]);
    await set.refuses(400, 'InvalidArgument', [{ name: 'file', value: FILE }]);
    await set.refuses(403, 'AccessDenied', [
      { name: 'key', value: 'x' },
      { name: 'file', value: FILE },
    ]);
    const credential = set.fields()['x-amz-credential']?.replace(/^[^/]+/, 'runwire-999999') ?? '';
    await set.refuses(403, 'InvalidAccessKeyId', changed(good, 'x-amz-credential', credential));
    for (const { name } of without(good, 'file')) {
      // The type is not a required field, but the policy has a condition on it.
      const [status, code] =
        name === 'Content-Type' ? ([403, 'AccessDenied'] as const) : ([400, 'InvalidArgument'] as const);
      await set.refuses(status, code, without(good, name));
    }
  });

  test('refuses another length than signed, no file, or another file name', async () => {
    await set.refuses(400, 'EntityTooLarge', set.parts({ sizeBytes: FILE.length - 1 }));
    await set.refuses(400, 'EntityTooSmall', set.parts({ sizeBytes: FILE.length + 1 }));
    await set.refuses(400, 'EntityTooSmall', set.parts({ sizeBytes: 1 }, ''));
    await set.refuses(400, 'InvalidArgument', without(set.parts(), 'file'));
    const other = set.parts().map((part) => (part.name === 'file' ? { ...part, name: 'files' } : part));
    await set.refuses(400, 'InvalidArgument', other);
  });

  test('a form writes into its own integration only, and not if it is deleted', async () => {
    const { api } = set.server;
    for (const apiIntegrationId of ['other', 'gone']) {
      await api.post('/v2/integrations', { apiIntegrationId, name: 'Another', agency: 'demo' });
    }
    await set.refuses(403, 'AccessDenied', set.parts(), {}, 'other');
    // The answer does not reveal which integrations exist.
    await set.refuses(403, 'AccessDenied', set.parts(), {}, 'never-there');
    await set.refuses(403, 'AccessDenied', [{ name: 'bucket', value: 'demo' }, ...set.parts()], {}, 'other');
    await set.refuses(403, 'AccessDenied', set.parts(), {}, '..%2fdemo');
    says(await set.post(set.parts({ bucket: 'gone' }), {}, 'gone'), 204, null);
    assert.equal((await api.delete('/v2/integrations/gone')).status, 204);
    await set.refuses(404, 'NoSuchBucket', set.parts({ bucket: 'gone', key: 'b' }), {}, 'gone');
    await set.refuses(404, 'NoSuchBucket', set.parts({ bucket: 'no-one' }), {}, 'no-one');
  });

  test('refuses a signed key that is not a canonical path', async () => {
    const filename = `$\{filename}`;
    for (const key of ['../up', '/abs', 'a//b', 'a/', '.', 'a\\b', 'a\u0000b', 'x'.repeat(901), `a${filename}`]) {
      const parts = set.parts({ key }).map((part) => (part.name === 'file' ? { name: 'file', value: FILE } : part));
      await set.refuses(400, 'BadRequest', parts);
    }
    await set.refuses(400, 'InvalidArgument', set.parts({ key: '' }));
  });

  test('supports the success actions that the policy covers', async (t) => {
    cites(t, 'contract-7-post-policy');
    await set.refuses(403, 'AccessDenied', [{ name: 'success_action_status', value: '201' }, ...set.parts()]);
    const redirect = { name: 'success_action_redirect', value: 'https://elsewhere.example' };
    await set.refuses(403, 'AccessDenied', [redirect, ...set.parts()]);
    for (const [asked, status] of Object.entries({ 200: 200, 204: 204, 404: 204 })) {
      const answer = await set.post(set.covering({ success_action_status: asked }));
      says(answer, status, null);
      assert.equal(answer.body, '');
    }
    const made = await set.post(set.covering({ success_action_status: '201' }, { key: 'a&b/<c>' }));
    says(made, 201, null);
    const { etag, location } = made.headers;
    assert.equal(
      made.body,
      `<?xml version="1.0" encoding="UTF-8"?>\n<PostResponse><Location>${location}</Location><Bucket>demo</Bucket><Key>a&amp;b/&lt;c&gt;</Key><ETag>${String(etag).replaceAll('"', '&quot;')}</ETag></PostResponse>`,
    );
    const away = await set.post(set.covering({ success_action_redirect: 'https://elsewhere.example/?a=%7e+b' }));
    says(away, 303, null);
    assert.match(
      String(away.headers.location),
      /^https:\/\/elsewhere\.example\/\?a=%7e\+b&bucket=demo&key=pictures%2Fcat\.png&etag=%22/,
    );
  });

  test('a checksum in the form must match the file', async () => {
    const right = {
      'x-amz-checksum-sha256': createHash('sha256').update(FILE).digest('base64'),
      'x-amz-checksum-sha1': createHash('sha1').update(FILE).digest('base64'),
      'x-amz-checksum-crc32': Buffer.from(crc32(FILE).toString(16).padStart(8, '0'), 'hex').toString('base64'),
    };
    says(await set.post(set.covering(right)), 204, null);
    for (const [name, value] of Object.entries(right)) {
      const wrong = Buffer.alloc(Buffer.from(value, 'base64').length).toString('base64');
      await set.refuses(400, 'BadDigest', set.covering({ [name]: wrong }, { key: 'sum' }));
      await set.refuses(400, 'InvalidRequest', set.covering({ [name]: 'no checksum' }, { key: 'sum' }));
    }
    await set.refuses(501, 'NotImplemented', set.covering({ 'x-amz-checksum-crc32c': 'AAAAAA==' }, { key: 'sum' }));
  });

  test('any origin may post; other methods are 405 as in S3', async (t) => {
    cites(t, 'contract-7-upload-cors');
    const preflight = await fetch(set.url(), {
      method: 'OPTIONS',
      headers: {
        origin: 'https://app.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'x-a',
      },
    });
    assert.equal(preflight.status, 200);
    assert.equal(preflight.headers.get('access-control-allow-origin'), '*');
    assert.equal(preflight.headers.get('access-control-allow-methods'), 'POST');
    assert.equal(preflight.headers.get('access-control-allow-headers'), '*');
    assert.equal(preflight.headers.get('access-control-allow-credentials'), null);
    for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH']) {
      const answer = await fetch(set.url(), { method });
      assert.deepEqual([answer.status, answer.headers.get('allow')], [405, 'POST, OPTIONS'], method);
      assert.equal(answer.headers.get('access-control-allow-origin'), '*');
      if (method !== 'HEAD') assert.match(await answer.text(), /<Code>MethodNotAllowed<\/Code>/);
    }
  });

  test('an upload during an outage of the store is answered with a retry', async () => {
    let isAway = false;
    const wrapStore = hookStore({
      read: async (statement, read) => {
        if (isAway && statement === 'upload secret') throw new StoreUnavailable('away');
        return read();
      },
    });
    await using away = await UploadServer.start({ store, wrapStore });
    isAway = true;
    const answer = await away.post(away.parts());
    says(answer, 503, 'ServiceUnavailable');
    assert.equal(answer.headers['retry-after'], '1');
    isAway = false;
    says(await away.post(away.parts()), 204, null);
  });

  test('a rotated secret signs no new form; its forms stay valid to their end', async (t) => {
    cites(t, 'contract-1-secret-uploads');
    await using rotating = await UploadServer.start({ store });
    const { api } = rotating.server;
    const { apiKey } = (await api.post('/v2/api_keys', { name: 'backend' })).body;
    const before = rotating.parts({ key: 'before' });
    const old = rotating.key;
    const { code, stdout, stderr } = await runwire(['uploads', 'rotate'], { env: await rotating.environment });
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^Upload forms are signed with secret number 3 from now on; forms signed before stay valid/);
    rotating.use(stdout);
    assert.equal((await api.as(apiKey).get('/v2/integrations/demo')).status, 200, 'a signed key stays good');
    says(await rotating.post(before), 204, null);
    says(await rotating.post(rotating.parts({ key: 'after' })), 204, null);
    const leaked = (signedAt: number, expiresAt: number): RawForm['parts'] => [
      ...toParts(rotating.fields({ key: 'leaked', signedAt, expiresAt }, old)),
      { name: 'file', value: FILE },
    ];
    const now = Date.now();
    for (const form of [leaked(now + 60_000, now + 120_000), leaked(now - 60_000, now + 900_000)]) {
      says(await rotating.post(form), 403, 'AccessDenied');
    }
    assert.deepEqual(await rotating.paths(), ['after', 'before']);
    const direct = { ...(await rotating.environment), S3_BUCKET: 'a-bucket', AWS_REGION: 'us-east-1' };
    const elsewhere = await runwire(['uploads', 'rotate'], { env: direct });
    assert.equal(elsewhere.code, 0, elsewhere.stderr);
    assert.match(
      elsewhere.stdout,
      /^With S3_UPLOADS=direct .* AWS credentials, .* another access key .* secret number 4 /,
    );
    const through = await runwire(['uploads', 'rotate'], { env: { ...direct, S3_UPLOADS: 'through' } });
    assert.match(through.stdout, /^Upload forms are signed with secret number 5 from now on/, through.stderr);
    const usage = await runwire(['uploads'], { env: await rotating.environment });
    assert.deepEqual([usage.code, usage.stdout], [2, '']);
  });
}
