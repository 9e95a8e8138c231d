import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type ApiClient, STORES, type StoreName, startTestServer, type TestServer } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { askStore } from './support/ask-store.ts';
import { pickColumn } from './support/columns.ts';
import { RawConnection } from './support/raw-http.ts';
import { type SignedForm, sendForm, signing } from './support/uploads.ts';

/** Sends one request with exactly these headers. Resolves to the answer's text. */
async function raw(to: TestServer, headers: readonly string[]): Promise<string> {
  const body = JSON.stringify(signing(3));
  const lines = [
    'POST /create_agency_upload HTTP/1.1',
    ...headers,
    `Authorization: ${to.api.authorization.authorization}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    '',
    body,
  ];
  const connection = new RawConnection(to.url);
  connection.send(lines.join('\r\n'));
  return connection.closed;
}

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  let server: TestServer;
  let api: ApiClient;
  before(async () => {
    server = await startTestServer({ store });
    api = server.api;
  });
  after(() => server[Symbol.asyncDispose]());

  const sign = (fields: object = {}, by = api) => by.post('/create_agency_upload', { ...signing(3), ...fields });
  const readForms = async (integrationId: string): Promise<number> => {
    const rows = await askStore(
      server.dataDir,
      `select count(*) as forms from upload_forms where integration_id = '${integrationId}'`,
    );
    return Number(rows[0]?.forms);
  };

  test('signs a form: 200 with path, address and fields in the order to send', async (t) => {
    cites(
      t,
      'spec-4.2-path',
      'spec-4.2-purpose',
      'spec-4.2-headers',
      'spec-4.2-api-integration-id',
      'spec-4.2-resource',
      'spec-4.2-upload-url',
      'spec-4.2-upload-fields',
      'spec-8-form-lifetime',
      'spec-1-signed-form',
      'contract-3-upload',
      'contract-3-two-operations',
      'contract-7-resource',
      'contract-7-upload-fields',
    );
    const began = Date.now();
    const { status, body } = await sign({ folder: '/app/mnt/u/42', filename: 'é 1.png', contentType: 'image/png' });
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body), ['resource', 'uploadUrl', 'uploadFields']);
    assert.equal(body.resource, '/app/mnt/u/42/é 1.png');
    assert.equal(body.uploadUrl, `${server.url}/uploads/demo`);
    const { uploadFields } = body as SignedForm;
    assert.deepEqual(Object.keys(uploadFields), [
      'key',
      'Content-Type',
      'x-amz-algorithm',
      'x-amz-credential',
      'x-amz-date',
      'policy',
      'x-amz-signature',
    ]);
    for (const value of Object.values(uploadFields)) assert.equal(typeof value, 'string');
    assert.equal(uploadFields.key, 'u/42/é 1.png');
    const policy = JSON.parse(Buffer.from(uploadFields.policy ?? '', 'base64').toString());
    const lives = Date.parse(policy.expiration) - began;
    assert.ok(lives >= 15 * 60_000 && lives < 16 * 60_000, `${lives} ms`);
    assert.deepEqual(
      policy.conditions.filter((condition: unknown) => Array.isArray(condition)),
      [['content-length-range', 3, 3]],
    );
    assert.deepEqual(policy.conditions.slice(0, 3), [
      { bucket: 'demo' },
      { key: 'u/42/é 1.png' },
      { 'Content-Type': 'image/png' },
    ]);
  });

  test('refuses in the order 401, 400, 404, 403 and stores nothing', async (t) => {
    cites(t, 'contract-3-upload');
    const { body: other } = await api.post('/v2/owners', { email: 'other@example.com' });
    const theirs = api.as(other.apiKey);
    const { body: foreign } = await theirs.post('/v2/integrations', {});
    const bad = { folder: '/app' };
    const told = async (fields: object, by = api) => {
      const { status, body } = await sign(fields, by);
      return [status, body.code];
    };
    assert.deepEqual(await told({ ...bad, apiIntegrationId: 'nowhere' }, api.as('nobody')), [401, 'invalid_api_key']);
    assert.deepEqual(await told({ ...bad, apiIntegrationId: 'nowhere' }), [400, 'invalid_request']);
    assert.deepEqual(await told({ ...bad, apiIntegrationId: foreign.apiIntegrationId }), [400, 'invalid_request']);
    assert.deepEqual(await told({ apiIntegrationId: 'nowhere' }), [404, 'integration_not_found']);
    assert.deepEqual(await told({ apiIntegrationId: foreign.apiIntegrationId }), [403, 'integration_forbidden']);
    assert.equal(await readForms(foreign.apiIntegrationId), 0);
    assert.equal(await readForms('nowhere'), 0);
  });

  test('all five fields are required, and each refusal names its field', async (t) => {
    cites(
      t,
      'spec-4.2-folder',
      'spec-4.2-filename',
      'spec-4.2-content-type',
      'spec-4.2-size-bytes',
      'spec-8-upload-size',
      'contract-7-upload-fields-required',
      'contract-7-canonical-path',
      'contract-7-not-canonical',
    );
    const noted = await readForms('demo');
    const refused = async (fields: object, field: string) => {
      const { status, body } = await sign(fields);
      assert.deepEqual([status, body.code], [400, 'invalid_request'], JSON.stringify(fields));
      assert.ok(body.error.includes(`\`${field}\``), `${JSON.stringify(fields)}: ${body.error}`);
    };
    for (const field of ['apiIntegrationId', 'folder', 'filename', 'contentType', 'sizeBytes']) {
      for (const value of [undefined, null, [], {}, true]) await refused({ [field]: value }, field);
    }
    assert.match((await sign({ sizeBytes: 20_971_521 })).body.error, /^The file is larger than 20 MiB/);
    assert.match((await sign({ sizeBytes: 0 })).body.error, /^The file is empty/);
    for (const sizeBytes of [0, -1, 1.5, 20_971_521, '3', 1e300]) await refused({ sizeBytes }, 'sizeBytes');
    const formVariable = `$\{filename}`;
    for (const folder of [
      '',
      '/',
      '/app/mnt',
      '/app/mnt/',
      '/app/mnt/u/',
      '/app/mnt/../x',
      'u/42',
      '/app/mnt/a\u202eb',
      `/app/mnt/${formVariable}`,
      `/app/mnt/${'d'.repeat(256)}`,
      `/app/mnt${'/aaaaaaaaa'.repeat(90)}`,
    ]) {
      await refused({ folder }, 'folder');
    }
    for (const filename of [
      '',
      ' ',
      '.',
      '..',
      'a/b',
      'a\\b',
      'a\0',
      'a\u2028',
      '\ufeff',
      formVariable,
      'f'.repeat(256),
    ]) {
      await refused({ filename }, 'filename');
    }
    // Each of the two alone is short enough.
    await refused({ folder: `/app/mnt${'/aaaaaaaaa'.repeat(80)}`, filename: 'f'.repeat(100) }, 'filename');
    for (const contentType of ['', 'image', 'image/png\r\nX-A: 1', 'image/png; a', 'é/é', `a/${'b'.repeat(254)}`]) {
      await refused({ contentType }, 'contentType');
    }
    assert.equal(await readForms('demo'), noted, 'and nothing was noted');
    for (const sizeBytes of [1, 20_971_520]) assert.equal((await sign({ sizeBytes })).status, 200);
    assert.equal((await sign({ contentType: 'text/plain; charset=utf-8' })).status, 200);
    assert.equal(await readForms('demo'), noted + 3);
  });

  test('unknown fields are ignored in the upload request and in sandbox files', async (t) => {
    cites(t, 'contract-4-unknown-fields-files');
    const { status, body } = await sign({ filename: 'unknown.txt', unknown: 5, consumerId: null });
    assert.equal(status, 200);
    assert.equal(await sendForm(body as SignedForm, Buffer.from('abc')), 204);
    const file = { name: 'unknown.txt', path: body.resource };
    const reader = await api.complete({ chatId: 'unknown', sandboxFiles: [{ ...file, size: 3, mode: null }] });
    assert.equal(reader.status, 200);
    await reader.whole();
    const messages = await api.get('/v2/integrations/demo/chats/unknown/messages');
    const sent = messages.body.items.find(({ role }: { role: string }) => role === 'user');
    assert.deepEqual(sent.sandboxFiles, [file]);
  });

  test('a body that is not JSON is 415, a body that is too large is 413', async () => {
    const type = { 'content-type': 'text/plain' };
    assert.equal((await api.call('POST', '/create_agency_upload', 'x', type)).status, 415);
    await using small = await startTestServer({ store, env: { RUNWIRE_MAX_BODY_BYTES: '1024' } });
    assert.equal(
      (await small.api.post('/create_agency_upload', signing(3, { filename: 'f'.repeat(2000) }))).status,
      413,
    );
  });

  test("the upload address is under RUNWIRE_PUBLIC_URL, or the request's host", async (t) => {
    cites(t, 'contract-7-upload-url');
    const forwarded = ['X-Forwarded-Host: evil.example', 'X-Forwarded-Proto: https', 'Forwarded: host=evil.example'];
    const answer = await raw(server, ['Host: files.internal:9000', ...forwarded]);
    assert.match(answer, /"uploadUrl":"http:\/\/files\.internal:9000\/uploads\/demo"/);
    for (const bad of [[], ['Host: a b'], ['Host: user@evil.example'], ['Host: evil.example/x']]) {
      assert.match(await raw(server, bad), /^HTTP\/1\.1 400 [\s\S]*`Host`/, String(bad));
    }
    await using named = await startTestServer({
      store,
      env: { RUNWIRE_PUBLIC_URL: 'https://agents.example.com/api/' },
    });
    const { body } = await sign({}, named.api);
    assert.equal(body.uploadUrl, 'https://agents.example.com/api/uploads/demo');
    assert.match(await raw(named, ['Host: a b']), /"uploadUrl":"https:\/\/agents\.example\.com\/api\/uploads\/demo"/);
  });

  test('concurrent forms for a file and a folder of one name conflict', async (t) => {
    cites(t, 'contract-8-409-file-exists-as-folder', 'contract-7-file-and-folder');
    const inTheWay = async (fields: object) => {
      const { status, body } = await sign(fields);
      assert.deepEqual([status, body.code], [409, 'file_exists_as_folder'], JSON.stringify(fields));
    };
    assert.equal((await sign({ folder: '/app/mnt/way', filename: 'x' })).status, 200);
    await inTheWay({ folder: '/app/mnt/way/x', filename: 'y' });
    await inTheWay({ folder: '/app/mnt/way/x/y', filename: 'z' });
    assert.equal((await sign({ folder: '/app/mnt/way/deep/er', filename: 'f' })).status, 200);
    await inTheWay({ folder: '/app/mnt/way', filename: 'deep' });
    await inTheWay({ folder: '/app/mnt/way/deep', filename: 'er' });
    // A name that only looks similar does not conflict.
    for (const filename of ['x', 'x-', 'x0', 'x.y', 'deep.', 'dee']) {
      assert.equal((await sign({ folder: '/app/mnt/way', filename })).status, 200, filename);
    }
    for (let round = 0; round < 10; round += 1) {
      const folder = `/app/mnt/race${round}`;
      const answers = await Promise.all(
        Array.from({ length: 6 }, (_, place) =>
          sign(place % 2 === 0 ? { folder, filename: 'x' } : { folder: `${folder}/x`, filename: 'y' }),
        ),
      );
      const signed = answers.map(({ status }) => status === 200);
      const won = signed.indexOf(true);
      assert.notEqual(won, -1);
      assert.deepEqual(
        signed,
        signed.map((_, place) => place % 2 === won % 2),
        `round ${round}`,
      );
    }
  });

  test('expired forms block no upload, and a sweep deletes them', async () => {
    await using own = await startTestServer({ store });
    const first = await sign({ folder: '/app/mnt/old', filename: 'x' }, own.api);
    assert.equal(first.status, 200);
    const beneath = { folder: '/app/mnt/old/x', filename: 'y' };
    assert.equal((await sign(beneath, own.api)).status, 409);
    const age = (minutes: number) =>
      askStore(own.dataDir, `update upload_forms set signed_at = ${Date.now() - minutes * 60_000 - 1}`);
    await age(20);
    assert.equal(await own.server.probes.sweepFiles(), 0, 'a drop in S3 may still have to be settled');
    await age(21);
    assert.equal((await sign(beneath, own.api)).status, 200);
    assert.equal(await own.server.probes.sweepFiles(), 1);
    const left = await askStore(own.dataDir, 'select path from upload_forms');
    assert.deepEqual(pickColumn(left, 'path'), ['\u0001old\u0001x\u0001y']);
  });
}
