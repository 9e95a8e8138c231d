import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { imageAttachment, makePng, postForm, STORES, type StoreName, toParts } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { askStore, storedState } from './support/ask-store.ts';
import { eventually } from './support/eventually.ts';
import { KillableServer } from './support/killable-server.ts';
import { ISO_TIME, refusal, ScriptedServer } from './support/scripted-server.ts';
import { download, sendForm, sign, upload } from './support/uploads.ts';

const ERASED = /^erased_[0-9a-f]{16}$/;
const METERED = { unit: 'tokens', limit: 1_000_000, period: 'lifetime' };

/** A PNG whose bytes contain the text. */
function pngWith(text: string): Buffer {
  const bytes = makePng(500);
  bytes.write(text, 100);
  return bytes;
}

/** Returns the places that contain the text: rows, file names, and bytes of files. */
async function placesIn(dataDir: string, text: string): Promise<string[]> {
  const rows = [...(await storedState(dataDir))].filter((row) => row.includes(text));
  const files = readdirSync(dataDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => readFileSync(path).includes(text));
  return [...rows, ...files];
}

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  // Each erasure rewrites the database, so that no test waits for another one's interval.
  const rig = ScriptedServer.shared({ store, limits: { eraseRewriteMs: 0 } });

  const member = (integration: string, consumerId = 'ann') =>
    `/v2/integrations/${integration}/members/${encodeURIComponent(consumerId)}`;
  const erase = (integration: string, consumerId?: string) =>
    rig.api.delete(`${member(integration, consumerId)}?erase=true`);
  const status = (integration: string, consumerId?: string) =>
    rig.api.get(`${member(integration, consumerId)}/erasure`);
  const erased = (integration: string, consumerId?: string) =>
    eventually('the member is erased', async () => {
      const { body } = await status(integration, consumerId);
      return body.status === 'erased' && body;
    });

  const getPlaces = (text: string) => placesIn(rig.server.dataDir, text);

  test('erases everything of a person and keeps the usage under another id', async (t) => {
    cites(
      t,
      'contract-3-member-erasure',
      'contract-6-erasure',
      'contract-6-erasure-replaced',
      'contract-6-erasure-files',
      'contract-6-erasure-status',
      'contract-26-search-deleted',
      'agents-34-deleted',
    );
    const mark = 'PlantedText';
    const who = `${mark} ä/1`;
    const integration = await rig.integration({ allowances: METERED, agency: 'test' });
    const path = `/v2/integrations/${integration}`;
    await rig.api.put(member(integration, who), { name: `${mark} name`, metadata: { note: mark } });
    await rig.member(integration, 'ben');
    const shared = imageAttachment(pngWith('SharedBytes'));
    const ask = { apiIntegrationId: integration, consumerId: who, user_context: { note: mark } };
    await rig.answer(
      {
        ...ask,
        usageRequestId: `${mark} r1`,
        chatId: `${mark} c1`,
        aliasChatId: `${mark} a1`,
        message: `${mark} message`,
        attachments: [imageAttachment(pngWith(mark)), shared],
      },
      `${mark} answer`,
    );
    const bens = { apiIntegrationId: integration, consumerId: 'ben', usageRequestId: 'ben-1', chatId: 'ben' };
    await rig.answer({ ...bens, attachments: [shared] });
    await rig.api.patch(`${path}/chats/${encodeURIComponent(`${mark} c1`)}`, {
      title: `${mark} title`,
      metadata: { note: mark },
    });
    const patched = await rig.api.patch(`${path}/chats/${encodeURIComponent(`${mark} c1`)}/state`, { note: mark });
    assert.equal(patched.status, 200);
    await rig.answer({ ...ask, usageRequestId: `${mark} r2`, chatId: `${mark} c2` }, mark);
    const plant = (statement: string) => askStore(rig.server.dataDir, statement);
    // As the sweep of events leaves them.
    const own = `runs where integration_id = '${integration}' and consumer_id <> 'ben'`;
    await plant(`insert into compacted_chunks select run_id, 1, 1, '${mark}' from ${own}`);
    await plant(`insert into skipped_runs select run_id from ${own}`);
    await plant(`update runs set status = 'failed' where run_id in (select run_id from ${own})`);
    await plant(`insert into unsuccessful_runs select integration_id, 'failed', created_at, run_id from ${own}`);
    const compacted = async () => (await plant(`select run_id from compacted_chunks where data = '${mark}'`)).length;
    assert.equal(await compacted(), 2);
    await rig.api.delete(`${path}/chats/${encodeURIComponent(`${mark} c2`)}`);
    assert.equal(await compacted(), 1, 'a deleted chat has no compacted events');
    const adjustment = { amount: 3, unit: 'tokens', reason: mark, idempotencyKey: mark };
    assert.equal((await rig.api.post(`${member(integration, who)}/adjustments`, adjustment)).status, 201);
    const { folder } = (await rig.api.get(member(integration, who))).body;
    const file = { apiIntegrationId: integration, folder, filename: `${mark}.txt` };
    await upload(rig.api, `${mark} first`, file);
    await upload(rig.api, `${mark} second`, file);
    const elsewhere = await upload(rig.api, 'stays', { apiIntegrationId: integration, folder: '/app/mnt/other' });
    // No tool makes files yet, so a run's file is an upload with its chat.
    const made = await upload(rig.api, `${mark} made`, { apiIntegrationId: integration, folder: '/app/mnt/made' });
    await askStore(
      rig.server.dataDir,
      `update files set chat_key = (select chat_key from chats where chat_id = '${mark} c1') where path like '%made%'`,
    );
    const form = await sign(rig.api, 4, { ...file, filename: `${mark} late.txt` });
    const summary = async () => (await rig.api.get(`${path}/usage/summary?groupBy=day`)).body.items;
    const before = await summary();
    assert.notDeepEqual(await getPlaces(mark), []);
    const found = async () => (await rig.api.get(`${path}/runs?q=plantedtext`)).body.items.length;
    const indexed = () => plant("select run_id from search_docs where cast(words as text) like '%plantedtext%'");
    await eventually('the words are in the index', async () => (await indexed()).length > 0);
    assert.equal(await found(), 1, 'the run of the deleted chat is not found');

    const accepted = await erase(integration, who);
    assert.equal(accepted.status, 202);
    const { startedAt, ...shown } = accepted.body;
    assert.match(startedAt, ISO_TIME);
    assert.deepEqual(shown, { consumerId: who, status: 'erasing', finishedAt: null });
    const done = await erased(integration, who);
    assert.match(done.finishedAt, ISO_TIME);
    assert.equal(done.startedAt, startedAt);

    assert.deepEqual(await getPlaces(mark), []);
    // The index writes only how a word differs from the one before.
    assert.deepEqual([await found(), await indexed(), await getPlaces('lantedtext')], [0, [], []]);
    assert.notDeepEqual(await getPlaces('SharedBytes'), []);
    assert.deepEqual(await summary(), before);
    const records = (await rig.api.get(`${path}/usage`)).body.items as Record<string, unknown>[];
    const [kept, ...others] = records.filter(({ consumerId }) => consumerId !== 'ben');
    assert.equal(others.length, 2);
    const erasedId = String(kept?.consumerId);
    assert.match(erasedId, ERASED);
    const failed = (await rig.api.get(`${path}/runs?status=failed`)).body.items as Record<string, unknown>[];
    assert.deepEqual(
      failed.map(({ consumerId }) => consumerId),
      [erasedId, erasedId],
      'the list of failed runs keeps them',
    );
    await rig.server.server.probes.sweepEvents();
    assert.deepEqual(
      await plant(
        `select skipped_runs.run_id from skipped_runs join ${own.replace('where', 'on runs.run_id = skipped_runs.run_id where')}`,
      ),
      [],
    );
    for (const record of [kept, ...others]) assert.equal(record?.consumerId, erasedId);
    const [run] = records.filter(({ kind, consumerId }) => kind === 'run' && consumerId === erasedId);
    assert.match(String(run?.chatId), ERASED);
    assert.match(String(run?.usageRequestId), /^erased_[0-9a-f]{32}$/);
    const [adjusted] = records.filter(({ kind }) => kind === 'adjustment');
    assert.deepEqual([adjusted?.reason, adjusted?.amount, adjusted?.applied], [null, 3, 3]);
    assert.equal(adjusted?.idempotencyKey, adjusted?.adjustmentId);
    assert.equal((await rig.api.get(`${path}/runs/${run?.runId}`)).body.chatDeleted, true);
    assert.equal((await download(rig.api, elsewhere, integration)).status, 200);
    assert.equal((await download(rig.api, made, integration)).status, 404);
    assert.equal(await sendForm(form, Buffer.from('late')), 403);
    // The closed form keeps no other file from being signed.
    await upload(rig.api, 'new', { apiIntegrationId: integration, folder: '/app/mnt/other', filename: 'new.txt' });
    assert.deepEqual(await getPlaces(mark), []);
  });

  test('is not erased while an upload of the person is sent', async (t) => {
    cites(t, 'contract-6-erasure-files');
    const mark = 'PlantedUpload';
    const integration = await rig.metered(METERED);
    const { folder } = (await rig.api.get(member(integration))).body;
    const bytes = Buffer.from(mark.repeat(20_000));
    const file = { apiIntegrationId: integration, folder, filename: 'a.txt' };
    const { uploadUrl, uploadFields } = await sign(rig.api, bytes.length, file);
    const held = Promise.withResolvers<void>();
    const parts = [...toParts(uploadFields), { name: 'file', filename: 'a.txt', value: bytes }];
    const answer = postForm(uploadUrl, { parts }, () => held.promise);
    await eventually('bytes are written', async () => (await getPlaces(mark)).length > 0);
    await erase(integration);
    await eventually('the id is replaced', async () => {
      const [row] = await askStore(
        rig.server.dataDir,
        `select consumer_id from erasures where integration_id = '${integration}'`,
      );
      return row?.consumer_id === null;
    });
    await sleep(1500);
    assert.equal((await status(integration)).body.status, 'erasing');
    held.resolve();
    assert.equal((await answer).status, 403);
    await erased(integration);
    assert.deepEqual(await getPlaces(mark), []);
  });

  test('never accepts the usage request id of an erased run again', async (t) => {
    cites(t, 'contract-6-erasure-replaced');
    const integration = await rig.metered(METERED);
    const body = { apiIntegrationId: integration, consumerId: 'ann', usageRequestId: 'once' };
    const { runId } = await rig.answer(body);
    await erase(integration);
    await erased(integration);
    await rig.member(integration, 'ann');
    const again = await refusal(await rig.api.complete(body));
    assert.deepEqual([again.status, again.body.code, again.body.runId], [400, 'usage_request_id_reused', runId]);
    const path = `/v2/integrations/${integration}`;
    assert.equal((await rig.api.get(`${path}/chat_status?usageRequestId=once`)).body.run.runId, runId);
    assert.equal((await rig.api.get(`${path}/usage?usageRequestId=once`)).body.items[0].runId, runId);
  });

  test('refuses the id while its runs are cancelled, then registers it anew', async (t) => {
    cites(t, 'contract-6-erasure-refused', 'contract-6-erasure-again', 'contract-8-409-erasure-running');
    const integration = await rig.metered(METERED);
    const body = { apiIntegrationId: integration, consumerId: 'ann', chatId: 'c1' };
    const held = await rig.hold({ ...body, usageRequestId: 'u1' });
    await held.call.text('Half');
    const accepted = await erase(integration);
    // The provider's connection is closed first, so these requests arrive before or after the replacement.
    const put = await rig.api.put(member(integration), {});
    if (put.status !== 201) assert.deepEqual([put.status, put.body.code], [409, 'erasure_running']);
    await held.reader.over;
    await erased(integration);
    const [record] = (await rig.api.get(`/v2/integrations/${integration}/usage`)).body.items;
    assert.equal(record.status, 'cancelled');
    assert.ok(record.charged.amount > 0, 'what it used is charged');
    if (put.status !== 201) {
      assert.equal((await rig.api.get(member(integration))).status, 404);
      const refused = await refusal(await rig.api.complete({ ...body, usageRequestId: 'u2' }));
      assert.deepEqual([refused.status, refused.body.code], [404, 'member_not_found']);
      assert.deepEqual((await erase(integration)).body, { ...accepted.body, ...(await erased(integration)) });
      assert.equal((await rig.api.put(member(integration), {})).status, 201);
    }
    assert.equal((await rig.allowance(integration)).used, 0);
    await rig.answer({ ...body, usageRequestId: 'u2' });
    assert.equal((await rig.api.get(`/v2/integrations/${integration}/chats/c1`)).body.numMessages, 2);
  });

  test('erases after a plain DELETE, and again after a new registration', async (t) => {
    cites(t, 'contract-6-erasure-again');
    const integration = await rig.metered(METERED);
    assert.equal((await erase(integration, 'nobody')).body.code, 'member_not_found');
    assert.equal((await status(integration)).body.code, 'member_not_found');
    const body = { apiIntegrationId: integration, consumerId: 'ann' };
    await rig.answer({ ...body, usageRequestId: 'u1' });
    assert.equal((await rig.api.delete(member(integration))).status, 204);
    assert.equal((await erase(integration)).status, 202);
    const first = await erased(integration);
    assert.deepEqual((await erase(integration)).body, first);
    await rig.member(integration, 'ann');
    await rig.answer({ ...body, usageRequestId: 'u2' });
    const second = await erase(integration);
    assert.equal(second.body.status, 'erasing');
    await erased(integration);
    const { items } = (await rig.api.get(`/v2/integrations/${integration}/usage/summary?groupBy=consumer`)).body;
    assert.deepEqual([items.length, items[0].runs], [1, 2]);
    assert.match(items[0].key, ERASED);
  });

  for (const [killAt, moment] of [
    ['erasure.after-commit', 'when it was accepted'],
    ['erasure-bytes.after', 'between the bytes and their rows'],
  ] as const) {
    test(`resumes after a crash ${moment}`, async (t) => {
      cites(t, 'contract-6-erasure-durable');
      await using server = await KillableServer.start({ store, killAt });
      await server.metered();
      const mark = 'PlantedText';
      const ids = { apiIntegrationId: 'mine', consumerId: 'ann', usageRequestId: mark, chatId: mark };
      const held = await server.hold({ ...ids, message: mark });
      await held.call.text(mark);
      await held.call.end();
      await held.reader.whole();
      await upload(server.api, mark, { apiIntegrationId: 'mine', folder: '/app/mnt/members/ann' });
      assert.notDeepEqual(await placesIn(server.dataDir, mark), []);
      // The server can die before it answers.
      await server.api.delete(`${member('mine')}?erase=true`).catch(() => null);
      assert.equal(await server.process.gone, 'SIGKILL');
      assert.notDeepEqual(await askStore(server.dataDir, 'select 1 from erasures where finished_at is null'), []);

      await server.startAgain();
      await eventually('the member is erased', async () => {
        const { body } = await server.api.get(`${member('mine')}/erasure`);
        return body.status === 'erased';
      });
      assert.deepEqual(await placesIn(server.dataDir, mark), []);
      const { items } = (await server.api.get('/v2/integrations/mine/usage')).body;
      assert.deepEqual([items.length, items[0].status], [1, 'completed']);
      assert.match(items[0].consumerId, ERASED);
    });
  }

  test('keeps the status for 30 days', async (t) => {
    cites(t, 'contract-6-erasure-status');
    const integration = await rig.metered(METERED);
    await erase(integration);
    await erased(integration);
    const finish = (daysAgo: number) => {
      const finishedAt = Date.now() - daysAgo * 86_400_000;
      const where = `where integration_id = '${integration}'`;
      return askStore(rig.server.dataDir, `update erasures set finished_at = ${finishedAt} ${where}`);
    };
    await finish(29);
    await sleep(6000);
    assert.equal((await status(integration)).status, 200);
    await finish(31);
    await eventually('the status is deleted', async () => (await status(integration)).status === 404);
  });
}
