import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { hookStore, STORES, type StoreName } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { pickColumn } from './support/columns.ts';
import { ISO_TIME, messagesFrame, ScriptedServer, shownUsage } from './support/scripted-server.ts';

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  const rig = ScriptedServer.shared({ store });

  test('shows a run as it is: while it runs and after its end', async (t) => {
    cites(t, 'contract-9-run', 'contract-3-runs', 'contract-8-404-run-not-found', 'contract-23-first-token');
    const integration = await rig.integration();
    await rig.member(integration, 'ann');
    const runs = `/v2/integrations/${integration}/runs`;
    const body = { apiIntegrationId: integration, consumerId: 'ann', usageRequestId: 'u1', chatId: 'c1' };
    const { reader, call, runId } = await rig.hold(body);
    await call.text('Hello');
    await reader.untilText('"Hello"');
    const { body: live } = await rig.api.get(`${runs}/${runId}`);
    assert.deepEqual(
      [live.message, live.usage, live.completedAt, live.error, live.durationMs, live.answerPreview, live.lastEventId],
      [null, null, null, null, null, null, reader.frames.at(-1)?.id],
    );
    await call.end();
    const frames = await reader.whole();
    const { body: run } = await rig.api.get(`${runs}/${runId}`);
    const { createdAt, startedAt, completedAt, agencyVersion, firstTokenMs, durationMs, ...rest } = run;
    assert.match(agencyVersion, /^[0-9a-f]{16}$/);
    for (const time of [createdAt, startedAt, completedAt]) assert.match(time, ISO_TIME);
    assert.ok(createdAt <= startedAt && startedAt <= completedAt);
    assert.ok(Number.isInteger(firstTokenMs) && firstTokenMs >= 0);
    assert.equal(durationMs, Date.parse(completedAt) - Date.parse(createdAt));
    assert.ok(firstTokenMs <= durationMs);
    assert.deepEqual(rest, {
      runId,
      apiIntegrationId: integration,
      chatId: 'c1',
      chatDeleted: false,
      consumerId: 'ann',
      usageRequestId: 'u1',
      status: 'completed',
      cancelRequested: null,
      agent: 'Concierge',
      attempt: 1,
      lastEventId: frames.at(-1)?.id,
      error: null,
      continues: null,
      rerunOf: null,
      pending: [],
      message: 'Hello',
      messagePreview: 'Hello',
      answerPreview: 'Hello',
      agents: ['Concierge'],
      models: ['scripted/model'],
      waiting: false,
      continuedBy: null,
      output: null,
      usage: shownUsage(),
      cost: null,
    });
    const { status, body: unknown } = await rig.api.get(`${runs}/run_nowhere`);
    assert.deepEqual([status, unknown.code], [404, 'run_not_found']);
  });

  test('shows how the message and the answer begin, also in lists without texts', async (t) => {
    cites(t, 'contract-9-run-previews', 'contract-3-runs-texts');
    const integration = await rig.integration();
    await rig.member(integration, 'ann');
    const runs = `/v2/integrations/${integration}/runs`;
    const of = (body: object) =>
      rig.answer({ apiIntegrationId: integration, consumerId: 'ann', chatId: 'c1', ...body });
    const line = '𝄞"\\\u0001 ';
    const long = `\n Trains\t to\r\n${line.repeat(1000)}`;
    await of({ message: 'First' });
    const { runId } = await of({ message: long });
    const shown = async () => {
      const { body: run } = await rig.api.get(`${runs}/${runId}`);
      const { output: _o, message: _m, ...short } = run;
      assert.deepEqual((await rig.api.get(`${runs}?limit=1`)).body.items, [run]);
      assert.deepEqual((await rig.api.get(`${runs}?limit=1&texts=true`)).body.items, [run]);
      assert.deepEqual((await rig.api.get(`${runs}?limit=1&texts=false`)).body.items, [short]);
      return [run.messagePreview, run.answerPreview, run.durationMs];
    };
    const [message, answer, duration] = await shown();
    assert.equal(message, [...`Trains to ${line.repeat(1000)}`].slice(0, 200).join(''));
    assert.equal(answer, 'Hi');
    assert.ok(Number.isInteger(duration));
    const { items } = (await rig.api.get(`${runs}?chatId=c1&texts=false`)).body;
    assert.deepEqual(pickColumn(items, 'messagePreview'), [message, 'First'], 'each run has its own');
    assert.equal((await rig.api.get(`${runs}?texts=no`)).body.code, 'invalid_request');
    await rig.api.delete(`/v2/integrations/${integration}/chats/c1`);
    assert.deepEqual(await shown(), [null, null, null]);
  });

  test('a run is admitted, then running, and ends once', async (t) => {
    cites(t, 'contract-6-run-states');
    // Nothing is flushed by the clock: the first finished step stores that the run is running.
    await using own = await ScriptedServer.start({ store, limits: { flushMs: 600_000 } });
    const integration = await own.integration({ agency: 'test' });
    const ends = {
      completed: async (runId: string) => {
        await (await own.controller.nextCall()).end();
        return runId;
      },
      failed: async (runId: string) => {
        await (await own.controller.nextCall()).fail('model_error', 'No.');
        return runId;
      },
      cancelled: async (runId: string) => {
        await own.controller.nextCall();
        await own.api.post(`/v2/integrations/${integration}/runs/${runId}/cancel`);
        return runId;
      },
    };
    for (const [expected, end] of Object.entries(ends)) {
      const { reader, call, runId } = await own.hold({ apiIntegrationId: integration });
      const states = async () => {
        const { body } = await own.api.get(`/v2/integrations/${integration}/runs/${runId}`);
        return [body.status, body.startedAt !== null, body.completedAt !== null];
      };
      assert.deepEqual(await states(), ['admitted', false, false]);
      await call.toolCall('call_1', 'echo', '{}');
      await call.end();
      const next = await own.controller.nextCall();
      assert.deepEqual(await states(), ['running', true, false]);
      await next.toolCall('call_2', 'echo', '{}');
      await next.end();
      await end(runId);
      await reader.whole();
      assert.deepEqual(await states(), [expected, true, true]);
      assert.equal(reader.frames.filter(({ event }) => event === 'messages').length, 1);
    }
  });

  test('lists runs newest first, by chat, member and status, page by page', async (t) => {
    cites(t, 'contract-3-runs', 'contract-9-newest-first', 'contract-8-400-invalid-cursor');
    const integration = await rig.integration();
    for (const member of ['ann', 'ben']) await rig.member(integration, member);
    const of = (body: object) => ({ apiIntegrationId: integration, ...body });
    const first = await rig.answer(of({ consumerId: 'ann', chatId: 'c1' }));
    const second = await rig.hold(of({ consumerId: 'ann', chatId: 'c1' }));
    await second.call.fail('model_error', 'No.');
    await second.reader.whole();
    const third = await rig.answer(of({ consumerId: 'ben', chatId: 'c2' }));
    const held = await rig.hold(of({ consumerId: 'ben', chatId: 'c3' }));
    const found = async (query: string) => {
      const { body } = await rig.api.get(`/v2/integrations/${integration}/runs${query}`);
      return body.items.map((run: { runId: string }) => run.runId);
    };
    const [one, two, three, four] = [first.runId, second.runId, third.runId, held.runId];
    assert.deepEqual(await found(''), [four, three, two, one]);
    assert.deepEqual(await found('?chatId=c1'), [two, one]);
    assert.deepEqual(await found('?consumerId=ben'), [four, three]);
    assert.deepEqual(await found('?status=completed'), [three, one]);
    assert.deepEqual(await found('?status=failed'), [two]);
    assert.deepEqual(await found('?chatId=c1&status=completed&consumerId=ann'), [one]);
    assert.deepEqual(await found('?chatId=c9'), []);
    const { body: page } = await rig.api.get(`/v2/integrations/${integration}/runs?limit=3`);
    assert.equal(page.items.length, 3);
    assert.deepEqual(await found(`?limit=3&cursor=${page.nextCursor}`), [one]);
    const wrong = await rig.api.get(`/v2/integrations/${integration}/runs?cursor=x`);
    assert.deepEqual([wrong.status, wrong.body.code], [400, 'invalid_cursor']);
    await held.finish();
  });

  test('filters runs by agent and time of admission, with all other filters', async (t) => {
    cites(t, 'clients-18-run-filters', 'contract-3-runs', 'contract-9-newest-first');
    t.mock.timers.enable({ apis: ['Date'], now: Date.parse('2031-01-01T00:00:00.000Z') });
    const integration = await rig.integration({ agency: 'test' });
    for (const member of ['ann', 'ben']) await rig.member(integration, member);
    const made: Record<string, string>[] = [];
    for (let n = 0; n < 12; n += 1) {
      t.mock.timers.tick(1000);
      const body = {
        consumerId: n % 3 === 0 ? 'ann' : 'ben',
        agent: n % 2 === 0 ? 'Clerk' : 'Writer',
        chatId: n % 3 === 0 ? 'c0' : `c${1 + (n % 2)}`,
      };
      const held = await rig.hold({ apiIntegrationId: integration, ...body });
      const status = n % 5 === 0 ? 'failed' : 'completed';
      if (status === 'failed') await held.call.fail('model_error', 'No.');
      else await held.call.end();
      await held.reader.whole();
      made.unshift({ ...body, status, runId: held.runId, at: new Date().toISOString() });
    }
    const held = await rig.hold({ apiIntegrationId: integration, consumerId: 'ann', agent: 'Clerk', chatId: 'c0' });
    const runs = `/v2/integrations/${integration}/runs`;
    const read = async (query: string) => {
      const found: string[] = [];
      let cursor = '';
      do {
        const { status, body } = await rig.api.get(`${runs}?limit=2&${query}${cursor}`);
        assert.equal(status, 200, JSON.stringify(body));
        found.push(...body.items.map(({ runId }: { runId: string }) => runId));
        cursor = body.nextCursor === null ? '' : `&cursor=${body.nextCursor}`;
      } while (cursor !== '');
      return found;
    };
    const [from, to] = ['2031-01-01T00:00:03Z', '2031-01-01T00:00:11.000Z'];
    const filters = [
      { agent: 'Clerk' },
      { status: 'completed' },
      { status: 'failed' },
      { consumerId: 'ben' },
      { chatId: 'c1' },
    ];
    const times = [{}, { from }, { to }, { from, to }];
    const isIn = (run: Record<string, string>, { from: start, to: end, ...same }: Record<string, string>) =>
      Object.entries(same).every(([name, value]) => run[name] === value) &&
      Date.parse(run.at ?? '') >= Date.parse(start ?? '2000-01-01') &&
      Date.parse(run.at ?? '') < Date.parse(end ?? '2040-01-01');
    for (let chosen = 1; chosen < 2 ** filters.length; chosen += 1) {
      const combined = Object.assign({}, ...filters.filter((_, index) => chosen & (2 ** index)));
      for (const time of times) {
        const filter = { ...combined, ...time };
        // The last run is active: neither completed nor failed.
        const rest = made.filter((run) => isIn(run, filter)).map(({ runId }) => runId);
        const active = {
          consumerId: 'ann',
          agent: 'Clerk',
          chatId: 'c0',
          status: 'active',
          at: '2031-01-01T00:00:12Z',
        };
        const expected = isIn(active, filter) ? [held.runId, ...rest] : rest;
        assert.deepEqual(await read(`${new URLSearchParams(filter)}`), expected, JSON.stringify(filter));
      }
    }
    const activeIn = async (query: string) =>
      [...(await read(`status=admitted&${query}`)), ...(await read(`status=running&${query}`))].length;
    for (const query of [
      '',
      'agent=Clerk',
      'chatId=c0',
      'consumerId=ann',
      'consumerId=ann&chatId=c0',
      `from=${from}`,
    ]) {
      assert.equal(await activeIn(query), 1, query);
    }
    for (const query of ['agent=Writer', 'chatId=c1', 'consumerId=ben', `to=${to}`]) {
      assert.equal(await activeIn(query), 0, query);
    }
    const other = await rig.integration();
    assert.deepEqual((await rig.api.get(`/v2/integrations/${other}/runs?chatId=c0`)).body.items, []);
    assert.deepEqual((await rig.api.get(`/v2/integrations/${other}/runs?status=admitted`)).body.items, []);
    for (const wrong of ['status=done', 'from=yesterday', 'to=2031-13-01', 'agent=A&agent=B']) {
      const { status, body } = await rig.api.get(`${runs}?${wrong}`);
      assert.deepEqual([status, body.code], [400, 'invalid_request'], wrong);
    }
    await held.finish();
  });

  test('reads a chat status by one of request id, chat id or alias', async (t) => {
    cites(
      t,
      'contract-3-chat-status',
      'contract-6-chat-status',
      'contract-6-chat-status-run',
      'contract-6-chat-status-error',
      'contract-6-unknown-usage-request-id',
      'contract-8-404-run-not-found',
      'contract-8-404-chat-not-found',
      'contract-6-chat-states',
      'spec-2.1-usage-request-id',
    );
    const integration = await rig.integration();
    await rig.member(integration, 'ann');
    const status = (query: string) => rig.api.get(`/v2/integrations/${integration}/chat_status${query}`);
    await rig.api.post(`/v2/integrations/${integration}/chats`, { chatId: 'c1', consumerId: 'ann' });
    const empty = (await status('?chatId=c1')).body;
    assert.deepEqual([empty.run, empty.numMessages, empty.status], [null, 0, 'idle']);

    const body = { apiIntegrationId: integration, consumerId: 'ann', chatId: 'c1', aliasChatId: 'a1' };
    const failed = await rig.hold({ ...body, usageRequestId: 'u1' });
    await failed.call.text('Oh');
    await failed.call.fail('model_error', 'No.');
    await failed.reader.whole();
    const { reader, call, runId } = await rig.hold({ ...body, usageRequestId: 'u2' });
    await call.text('Hello');
    await reader.untilText('"Hello"');
    // The first flush stores that the run is running; until then it is admitted.
    while ((await status('?chatId=c1')).body.run.status === 'admitted') await new Promise(setImmediate);
    const running = (await status('?usageRequestId=u2')).body;
    const { createdAt, updatedAt, run, ...chat } = running;
    for (const time of [createdAt, updatedAt, run.createdAt, run.startedAt]) assert.match(time, ISO_TIME);
    assert.deepEqual(chat, {
      chatId: 'c1',
      aliasChatId: 'a1',
      apiIntegrationId: integration,
      consumerId: 'ann',
      status: 'running',
      activeRunId: runId,
      chatDeleted: false,
      numMessages: 3,
      pending: [],
    });
    assert.deepEqual(
      { ...run, createdAt: '', startedAt: '' },
      {
        runId,
        usageRequestId: 'u2',
        status: 'running',
        agent: 'Concierge',
        attempt: 1,
        lastEventId: reader.frames.at(-1)?.id,
        createdAt: '',
        startedAt: '',
        completedAt: null,
        error: null,
        message: null,
        usage: null,
      },
    );
    const earlier = (await status('?usageRequestId=u1')).body;
    assert.deepEqual([earlier.status, earlier.activeRunId], ['running', runId], 'the chat is what it is');
    assert.deepEqual(
      [earlier.run.runId, earlier.run.status, earlier.run.error, earlier.run.message],
      [failed.runId, 'failed', { code: 'model_error', message: 'No.' }, 'Oh'],
    );
    await call.end();
    await reader.whole();
    for (const query of ['?chatId=c1', '?aliasChatId=a1']) {
      const { body: said } = await status(query);
      assert.deepEqual(
        [said.status, said.activeRunId, said.numMessages, said.run.runId, said.run.message, said.run.usage],
        ['idle', null, 4, runId, 'Hello', shownUsage()],
      );
    }

    const getCode = async (query: string) => {
      const answer = await status(query);
      return `${answer.status} ${answer.body.code}`;
    };
    assert.equal(await getCode('?usageRequestId=u9'), '404 run_not_found');
    assert.equal(await getCode('?chatId=c9'), '404 chat_not_found');
    assert.equal(await getCode('?aliasChatId=a9'), '404 chat_not_found');
    assert.equal(await getCode(''), '400 invalid_request');
    assert.equal(await getCode('?chatId=c1&aliasChatId=a1'), '400 invalid_request');
    assert.equal(await getCode('?usageRequestId=u1&chatId=c1'), '400 invalid_request');
    // Nothing was reserved, so the same id can be used.
    await rig.answer({ ...body, usageRequestId: 'u9' });
  });

  test('a chat status shows chat and run of one snapshot', async (t) => {
    cites(t, 'contract-6-chat-status-snapshot', 'contract-6-chat-status');
    let between: (() => Promise<unknown>) | null = null;
    const wrapStore = hookStore({
      read: async (statement, read) => {
        const rows = await read();
        const next = between;
        // Called after the statement that reads the chat and the run. Loops of the server read runs too.
        if (next !== null && statement.startsWith('status of')) {
          between = null;
          await next();
        }
        return rows;
      },
    });
    await using staged = await ScriptedServer.start({ store, wrapStore });
    for (const query of ['chatId=c', 'aliasChatId=a', 'usageRequestId=u']) {
      const integration = await staged.integration();
      const ids = { chatId: 'c', aliasChatId: 'a', usageRequestId: 'u' };
      const held = await staged.hold({ apiIntegrationId: integration, ...ids });
      between = async () => {
        await held.finish();
      };
      const { body } = await staged.api.get(`/v2/integrations/${integration}/chat_status?${query}`);
      assert.equal(between, null, 'the run ended while the status was read');
      assert.match(body.run.status, /admitted|running/);
      assert.deepEqual([body.status, body.activeRunId, body.numMessages], ['running', body.run.runId, 1]);
      const { id } = held.reader.frames.at(-1) ?? {};
      assert.ok(body.run.lastEventId < Number(id), 'a running run has no end event');
    }
  });

  test('returns the chat status also after the allowance is used up', async (t) => {
    cites(t, 'contract-3-chat-status-exhausted');
    const integration = await rig.metered({ unit: 'runs', limit: 1, period: 'lifetime' });
    const { runId } = await rig.answer({
      apiIntegrationId: integration,
      consumerId: 'ann',
      usageRequestId: 'u1',
      chatId: 'c1',
    });
    assert.equal((await rig.allowance(integration)).exhausted, true);
    for (const query of ['usageRequestId=u1', 'chatId=c1']) {
      const { status, body } = await rig.api.get(`/v2/integrations/${integration}/chat_status?${query}`);
      assert.deepEqual([status, body.run.runId, body.run.message], [200, runId, 'Hi']);
    }
  });

  test('passes `user_context` to tools, and to a model only if its agency asks', async (t) => {
    cites(t, 'contract-7-user-context-model');
    const integration = await rig.integration({ agency: 'test' });
    const context = { plan: 'gold-7f3a', nested: { tags: ['x'] } };
    const { reader, call } = await rig.hold({ apiIntegrationId: integration, chatId: 'c1', user_context: context });
    assert.ok(!JSON.stringify(call.request).includes('gold-7f3a'));
    await call.toolCall('call_1', 'echo', '{}');
    await call.end();
    const second = await rig.controller.nextCall();
    const output = second.request.prompt.find((item) => item.kind === 'tool_output');
    assert.deepEqual(JSON.parse(output?.output ?? '').context, context);
    await second.text('Done');
    await second.end();
    await reader.whole();
    const next = await rig.hold({ apiIntegrationId: integration, chatId: 'c1', user_context: 'iron-9c1d' });
    assert.ok(!JSON.stringify(next.call.request).includes('iron-9c1d'));
    await next.finish();
    assert.equal(messagesFrame(next.reader).status, 'completed');
  });
}
