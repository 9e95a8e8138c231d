import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { openStream, STORES, type StoreName, withoutComments } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { refusal, ScriptedServer } from './support/scripted-server.ts';

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  let rig: ScriptedServer;
  before(async () => {
    // The clock flushes nothing to the store, so a reader of a live run gets its events from memory.
    rig = await ScriptedServer.start({ store, limits: { flushMs: 600_000 } });
  });
  after(() => rig[Symbol.asyncDispose]());

  const events = (integration: string, runId: string, query: string, headers: Record<string, string> = {}) =>
    openStream(`${rig.server.url}/v2/integrations/${integration}/runs/${runId}/events${query}`, {
      method: 'GET',
      headers: { ...rig.api.authorization, ...headers },
    });

  test('resumes after a cursor from the header, or else from the query', async (t) => {
    cites(t, 'contract-3-events', 'contract-3-events-live');
    const integration = await rig.integration();
    const { reader, runId } = await rig.answer({ apiIntegrationId: integration }, 'Hello');
    const all = reader.frames;
    const after = async (query: string, headers: Record<string, string> = {}) => {
      const again = await events(integration, runId, query, { accept: 'application/json', ...headers });
      assert.deepEqual([again.status, again.headers['content-type']], [200, 'text/event-stream; charset=utf-8']);
      return again.whole();
    };
    assert.deepEqual(await after(''), all);
    assert.deepEqual(await after('?after=0'), all);
    assert.deepEqual(await after('', { 'last-event-id': '' }), all, 'a browser that saw nothing yet');
    for (const [index, { id }] of all.slice(0, -1).entries()) {
      assert.deepEqual(await after(`?after=${id}`), all.slice(index + 1));
      assert.deepEqual(await after('?after=0', { 'last-event-id': String(id) }), all.slice(index + 1));
    }
  });

  test('answers 204 to a cursor at or after the end', async (t) => {
    cites(t, 'contract-3-events-at-end');
    const integration = await rig.integration();
    const { reader, runId } = await rig.answer({ apiIntegrationId: integration });
    const last = reader.frames.at(-1)?.id ?? 0;
    for (const cursor of [last, last + 1, 1_000_000_000, Number.MAX_SAFE_INTEGER, '9'.repeat(20), '9'.repeat(4000)]) {
      for (const again of [
        await events(integration, runId, '', { 'last-event-id': String(cursor) }),
        await events(integration, runId, `?after=${cursor}`),
      ]) {
        await again.over;
        assert.deepEqual([again.status, again.text], [204, ''], String(cursor));
      }
    }
  });

  test('an empty cursor counts as absent, in the header and in the query', async (t) => {
    cites(t, 'contract-3-empty-cursor');
    const integration = await rig.integration();
    const { reader, runId } = await rig.answer({ apiIntegrationId: integration });
    const all = reader.frames;
    const after = async (query: string, header: string) =>
      (await events(integration, runId, query, { 'last-event-id': header })).whole();
    assert.deepEqual(await after('?after=', ''), all);
    assert.deepEqual(
      await after('?after=2', ''),
      all.filter(({ id }) => id > 2),
    );
    assert.deepEqual(
      await after('?after=', '2'),
      all.filter(({ id }) => id > 2),
    );
  });

  test('a reader with a cursor after all events waits for the end', async (t) => {
    cites(t, 'contract-3-events-ahead', 'contract-4-ahead-of-end');
    const integration = await rig.integration();
    const { reader, call, runId } = await rig.hold({ apiIntegrationId: integration });
    const ahead = await events(integration, runId, `?after=${'9'.repeat(30)}`);
    await ahead.until(({ text }) => text.startsWith(':'));
    await call.text('Hello');
    await call.end();
    const all = await reader.whole();
    assert.deepEqual([ahead.status, await ahead.whole()], [200, all.slice(-2)], 'messages and end');
  });

  test('refuses a cursor that is not an integer of at least 0', async (t) => {
    cites(t, 'contract-3-events-invalid-cursor', 'contract-8-400-invalid-cursor', 'contract-8-404-run-not-found');
    const integration = await rig.integration();
    const { runId } = await rig.answer({ apiIntegrationId: integration });
    for (const cursor of ['abc', '-1', '1.5', '1e3', '0x1', '+1', ' ', '9'.repeat(20).concat('.0')]) {
      for (const again of [
        await events(integration, runId, `?after=${encodeURIComponent(cursor)}`),
        ...(cursor === ' ' ? [] : [await events(integration, runId, '?after=1', { 'last-event-id': cursor })]),
      ]) {
        const { status, body } = await refusal(again);
        assert.deepEqual([status, body.code], [400, 'invalid_cursor'], cursor);
      }
    }
    const unknown = await refusal(await rig.api.events('run_nowhere', null, integration));
    assert.deepEqual([unknown.status, unknown.body.code], [404, 'run_not_found']);
  });

  test('waits if the cursor is ahead of the stored log of a live run', async (t) => {
    cites(t, 'contract-3-events-ahead', 'contract-3-events-live');
    const integration = await rig.integration();
    const { reader, call, runId } = await rig.hold({ apiIntegrationId: integration });
    await call.text('seen elsewhere');
    await reader.untilText('seen elsewhere');
    const hot = reader.frames.at(-1)?.id ?? 0;
    assert.ok(hot > 1, 'only `meta` is stored, and the reader saw more');
    const at = await rig.api.events(runId, hot, integration);
    const ahead = await rig.api.events(runId, hot + 2, integration);
    for (const waiting of [at, ahead]) await waiting.until(({ text }) => text.startsWith(':'));
    for (const text of ['one', 'two', 'three']) {
      await call.text(text);
      await reader.untilText(`"${text}"`);
    }
    await ahead.untilText('"three"');
    await call.end();
    const all = await reader.whole();
    assert.deepEqual(
      await at.whole(),
      all.filter(({ id }) => id > hot),
    );
    assert.deepEqual(
      await ahead.whole(),
      all.filter(({ id }) => id > hot + 2),
    );
  });

  test('a reader that pauses is served from the log and delays no other', async (t) => {
    cites(t, 'contract-5-slow-reader');
    await using own = await ScriptedServer.start({ store });
    const integration = await own.integration();
    const { reader: quick, call, runId } = await own.hold({ apiIntegrationId: integration });
    const slow = await own.api.events(runId, null, integration);
    await slow.untilText('event: meta');
    slow.pause();
    const piece = 'x'.repeat(256 * 1024);
    let said = 0;
    /** In lock-step: the model sends the next piece after the fast reader has received this one. */
    const say = async () => {
      said += 1;
      await call.text(`${piece}<${said}>`);
      await quick.until(({ text }) => text.slice(-200).includes(`<${said}>`));
    };
    while (own.server.server.probes.fullStreams() === 0) {
      assert.ok(said < 400, 'the server keeps writing to a reader that does not read');
      await say();
    }
    for (let more = 0; more < 8; more += 1) await say();
    const received = slow.text.length;
    await call.end();
    await quick.whole();
    assert.equal(quick.frames.at(-1)?.event, 'end');
    assert.equal(own.server.server.probes.fullStreams(), 1, 'the slow one still waits, after the end of the run');
    assert.equal(slow.text.length, received);
    slow.resume();
    await slow.whole();
    assert.ok(withoutComments(slow.text) === withoutComments(quick.text), 'both have the same bytes');
  });
}
