import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import { defineAgency, defineAgent } from '@runwire/agency';
import { STORES, type StoreName } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { type HeldRun, refusal, ScriptedServer } from './support/scripted-server.ts';
import { at, upload } from './support/uploads.ts';

const ANN = '/app/mnt/members/ann/a.txt';
const BOB = '/app/mnt/members/bob/b.txt';
const ONE = '/app/mnt/shared/one.txt';
const TWO = '/app/mnt/shared/two.txt';
const PATHS = [ANN, BOB, ONE, TWO];
const FOLDERS = ['/app/mnt', ...new Set(PATHS.map((path) => at(path).folder))];
const announce = (...paths: readonly string[]) => paths.map((path) => ({ name: at(path).filename, path }));

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  const reader = defineAgent({ name: 'Reader', description: 'Reads.', instructions: 'Read.' });
  const rig = ScriptedServer.shared({ store, agencies: { reads: defineAgency({ name: 'Reads', agents: [reader] }) } });

  /** Makes an integration with two members and four files. */
  async function furnished(fields: object = {}): Promise<string> {
    const apiIntegrationId = await rig.integration({ agency: 'reads', ...fields });
    for (const member of ['ann', 'bob']) await rig.member(apiIntegrationId, member);
    for (const path of PATHS) await upload(rig.api, `word in ${path}`, { apiIntegrationId, ...at(path) });
    return apiIntegrationId;
  }

  /** Calls tools in a run, ends it, and resolves to their outputs. */
  async function outputs({ call, reader }: HeldRun, calls: readonly (readonly [string, object])[]): Promise<string[]> {
    for (const [index, [name, input]] of calls.entries()) {
      await call.toolCall(`call_${index}`, name, JSON.stringify(input));
    }
    await call.end();
    const next = await rig.controller.nextCall();
    await next.end();
    await reader.whole();
    const all = next.request.prompt.flatMap((item) => (item.kind === 'tool_output' ? [item.output] : []));
    return all.slice(-calls.length);
  }

  /** Resolves to the files that a run sees: by a search, by reading each path and by listing each folder. */
  async function seenBy(run: HeldRun): Promise<string[]> {
    const [found = '', ...rest] = await outputs(run, [
      ['search_files', { text: 'word' }],
      ...PATHS.map((path) => ['read_file', { path }] as const),
      ...FOLDERS.map((folder) => ['list_files', { folder }] as const),
    ]);
    const seen = PATHS.filter((path) => found.includes(`${path}:1:`));
    for (const [index, path] of PATHS.entries()) {
      if (seen.includes(path)) assert.match(rest[index] ?? '', /word in/);
      else assert.equal(rest[index], `There is no file ${path}.`);
    }
    for (const [index, folder] of FOLDERS.entries()) {
      const listed = rest[PATHS.length + index] ?? '';
      if (seen.some((path) => path.startsWith(`${folder}/`))) {
        const names = (paths: readonly string[]) =>
          new Set(paths.map((path) => path.slice(folder.length + 1).split('/')[0]));
        assert.deepEqual(
          names(listed.split('\n').map((line) => line.split(' ')[0] ?? '')),
          names(seen.filter((path) => path.startsWith(`${folder}/`))),
        );
      } else {
        assert.equal(listed, folder === '/app/mnt' ? 'The folder /app/mnt is empty.' : `There is no folder ${folder}.`);
      }
    }
    return seen;
  }

  const seen = async (body: Parameters<typeof rig.hold>[0]) => seenBy(await rig.hold({ message: 'Look', ...body }));

  test('with `chat`, the default, a run sees what was announced in its chat', async (t) => {
    cites(t, 'contract-7-file-access', 'contract-7-announced');
    const apiIntegrationId = await furnished();
    const { body } = await rig.api.get(`/v2/integrations/${apiIntegrationId}`);
    assert.deepEqual([body.fileAccess, body.memberFolder], ['chat', '/app/mnt/members/{consumerId}']);
    const ann = { apiIntegrationId, consumerId: 'ann', chatId: 'c' };
    assert.deepEqual(await seen(ann), [], 'not even the folder of the member');
    assert.deepEqual(await seen({ ...ann, sandboxFiles: announce(ONE, BOB) }), [BOB, ONE], 'any file can be announced');
    assert.deepEqual(await seen(ann), [BOB, ONE], 'in later turns too');
    for (const chatId of ['d', undefined]) assert.deepEqual(await seen({ ...ann, chatId }), [], 'in no other chat');
    const missing = announce(TWO, '/app/mnt/shared/none.txt');
    assert.equal((await refusal(await rig.api.complete({ ...ann, sandboxFiles: missing }))).status, 400);
    assert.deepEqual(await seen(ann), [BOB, ONE], 'a refused request announces nothing');
    const failed = await rig.hold({ ...ann, message: 'Fail', sandboxFiles: announce(TWO) });
    await failed.call.fail('model_error', 'It broke.');
    await failed.reader.whole();
    assert.deepEqual(await seen(ann), [BOB, ONE, TWO], 'a failed run has announced');
    await upload(rig.api, `word in ${TWO}`, { apiIntegrationId, ...at(TWO) });
    assert.deepEqual(await seen(ann), [BOB, ONE, TWO], 'a path is announced, not a version');
    const chat = `/v2/integrations/${apiIntegrationId}/chats/c`;
    assert.equal((await rig.api.delete(chat)).status, 204);
    assert.deepEqual(await seen(ann), [], 'a new chat of the same id begins with nothing');
  });

  test('with `member`, a run also sees the folder of its member', async (t) => {
    cites(t, 'contract-7-file-access', 'contract-7-announce-member');
    const apiIntegrationId = await furnished({ fileAccess: 'member' });
    const ann = { apiIntegrationId, consumerId: 'ann', chatId: 'c' };
    assert.deepEqual(await seen(ann), [ANN]);
    assert.deepEqual(await seen({ ...ann, chatId: 'd', sandboxFiles: announce(ANN) }), [ANN]);
    assert.deepEqual(await seen({ apiIntegrationId, consumerId: 'bob', chatId: 'b' }), [BOB]);
    for (const path of [BOB, ONE, '/app/mnt/members/annex/a.txt']) {
      const { status, admitted, body } = await refusal(
        await rig.api.complete({ ...ann, sandboxFiles: announce(ANN, path) }),
      );
      assert.deepEqual([status, admitted, body.code], [400, 'false', 'sandbox_file_not_found'], path);
      assert.ok(body.error.includes(`\`${path}\``));
    }
    assert.deepEqual(await seen({ apiIntegrationId, chatId: 'none' }), [], 'no consumer has no folder');
    assert.deepEqual(await seen({ apiIntegrationId, chatId: 'none', sandboxFiles: announce(BOB) }), [BOB]);
  });

  test('with `all`, a run sees every file of its integration', async (t) => {
    cites(t, 'contract-7-file-access');
    const apiIntegrationId = await furnished({ fileAccess: 'all' });
    assert.deepEqual(await seen({ apiIntegrationId, consumerId: 'ann' }), PATHS);
    assert.deepEqual(await seen({ apiIntegrationId }), PATHS);
  });

  test('a change of `fileAccess` counts from the next run on', async (t) => {
    cites(t, 'contract-7-file-lists');
    const apiIntegrationId = await furnished({ fileAccess: 'all' });
    const ann = { apiIntegrationId, consumerId: 'ann', chatId: 'c' };
    const held = await rig.hold({ ...ann, message: 'Look' });
    const path = `/v2/integrations/${apiIntegrationId}`;
    assert.equal((await rig.api.patch(path, { fileAccess: 'member' })).body.fileAccess, 'member');
    assert.deepEqual(await seenBy(held), PATHS);
    assert.deepEqual(await seen(ann), [ANN]);
    assert.equal((await rig.api.patch(path, { memberFolder: '/app/mnt/shared/{consumerId}' })).status, 200);
    assert.deepEqual(await seen(ann), [], 'and no file was moved');
    for (const fileAccess of ['none', null, 1, '']) {
      assert.equal((await rig.api.patch(path, { fileAccess })).status, 400, String(fileAccess));
    }
  });

  test('the template of member folders has one `{consumerId}` as a whole segment', async (t) => {
    cites(t, 'contract-7-member-folder');
    const apiIntegrationId = await rig.integration();
    const path = `/v2/integrations/${apiIntegrationId}`;
    for (const memberFolder of [
      '',
      '/app/mnt/members',
      '{consumerId}',
      '/app/mnt/{consumerId}/{consumerId}',
      '/app/mnt/of-{consumerId}',
      '/app/mnt/../{consumerId}',
      '/app/mnt/{consumerId}/',
      '/srv/{consumerId}',
      `/app/mnt/${'a/'.repeat(400)}{consumerId}`,
    ]) {
      for (const answer of [
        await rig.api.patch(path, { memberFolder }),
        await rig.api.post('/v2/integrations', { memberFolder }),
      ]) {
        assert.deepEqual([answer.status, answer.body.code], [400, 'invalid_request'], memberFolder);
        assert.match(answer.body.error, /`memberFolder`/);
      }
    }
    await rig.member(apiIntegrationId, 'ann');
    const folder = async () => (await rig.api.get(`${path}/members/ann`)).body.folder;
    assert.equal(await folder(), '/app/mnt/members/ann');
    for (const [memberFolder, expected] of [
      ['/app/mnt/{consumerId}', '/app/mnt/ann'],
      ['/app/mnt/of/{consumerId}/files', '/app/mnt/of/ann/files'],
    ]) {
      assert.equal((await rig.api.patch(path, { memberFolder })).body.memberFolder, memberFolder);
      assert.equal(await folder(), expected);
    }
  });

  test('every id of a member has a folder of its own that takes uploads', async (t) => {
    cites(t, 'contract-7-member-folder-name', 'contract-7-member-folder');
    const apiIntegrationId = await rig.integration({ agency: 'reads', fileAccess: 'member' });
    const long = 'ä'.repeat(256);
    const sha256 = createHash('sha256').update(long).digest('hex').slice(0, 32);
    const ids: Readonly<Record<string, string>> = {
      'ann@example.org': 'ann@example.org',
      'a+b=c,d.e-f_G': 'a+b=c,d.e-f_G',
      'a/b': 'a%2Fb',
      '..a': '%2E.a',
      '.hidden': '%2Ehidden',
      'a%2Fb': 'a%252Fb',
      'ä 😀~': '%C3%A4%20%F0%9F%98%80%7E',
      [long]: `${'%C3%A4'.repeat(20)}~${sha256}`,
      ['x'.repeat(201)]:
        `${'x'.repeat(120)}~${createHash('sha256').update('x'.repeat(201)).digest('hex').slice(0, 32)}`,
      ['x'.repeat(200)]: 'x'.repeat(200),
    };
    for (const [index, [consumerId, name]] of Object.entries(ids).entries()) {
      const member = `/v2/integrations/${apiIntegrationId}/members/${encodeURIComponent(consumerId)}`;
      const { folder } = (await rig.api.put(member, {})).body;
      assert.equal(folder, `/app/mnt/members/${name}`);
      await upload(rig.api, `word ${index}`, { apiIntegrationId, folder, filename: 'f' });
      const held = await rig.hold({ apiIntegrationId, consumerId, message: 'Look' });
      const [found] = await outputs(held, [['search_files', { text: 'word' }]]);
      assert.equal(found?.split('\n').at(-1), `${folder}/f:1: word ${index}`);
      assert.match(found ?? '', /^1 matching line, 1 file /);
    }
  });
}
