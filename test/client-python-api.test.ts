import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { beforeEach, describe, test } from 'node:test';
import { operations } from '@runwire/contract/schemas';
import { TEST_API_KEY } from '@runwire/test-kit';
import { FaultyProxy } from '@runwire/test-kit/faulty-proxy.ts';
import { freePort } from '@runwire/test-kit/free-port.ts';
import { root } from './support/cli-process.ts';
import { PYTHON_CLIENTS, Python } from './support/python.ts';
import { ScriptedServer } from './support/scripted-server.ts';
import { missingService } from './support/services.ts';
import { upload } from './support/uploads.ts';

/* Every operation of the API from Python, the mistakes of callers, and what only asyncio has. */

/** Calls every method that needs a key. */
const EVERYTHING = `
all = Client(url, key, name)
await all.integrations.create(api_integration_id=name, allowances={"unit": "runs", "limit": 10, "period": "day"})
await all.integrations.update(name="All")
assert (await all.integrations.get())["name"] == "All"
member = await all.members.put("a/b", name="Ann")
assert (await all.members.get("a/b")) == member
assert (await all.members.put("a/b", name=None))["name"] is None
token = await all.tokens.create(consumer_id="a/b", can=["run", "read"])
assert token["apiIntegrationId"] == name
run = await all.run("Hi", consumer_id="a/b", chat_id="c1")
run_id = (await run.result()).run_id
assert await (await all.attach({**run.handle, "runId": None})).text() == "Hello"
assert (await run.cancel()).status == "completed"
assert (await all.runs.cancel(run_id))["cancelled"] is False
assert (await all.runs.get(run_id))["message"] == "Hello"
await all.chats.create(chat_id="c2")
await all.chats.update("c2", title="Two")
fork = await all.chats.fork("c1", run_id=run_id, chat_id="c3")
assert fork["forkedFrom"] == {"chatId": "c1", "runId": run_id}
try:
    await all.questions.answer("c3", answers=[{"questionId": "qst_1", "approve": True}])
    assert False
except InvalidRequestError as error:
    assert error.code == "question_not_pending"
await all.chats.delete(fork["chatId"])
assert (await all.chats.get("c2"))["title"] == "Two"
assert (await all.chats.status(chat_id="c2"))["status"] == "idle"
await all.members.adjust("a/b", amount=1, unit="runs", reason="Sorry", idempotency_key="k1")
file = await all.upload(io.BytesIO(b"x" * 100_000), folder="/app/mnt/u", name="a.bin")
content = await all.files.content(path=file["path"])
assert sum([len(piece) async for piece in content]) == 100_000
async with await all.files.content(path=file["path"]) as content:
    assert await content.read() == b"x" * 100_000
head = await all.files.head(path=file["path"])
assert head.headers["content-length"] == "100000" and await head.read() == b""
created = await all.keys.create(name="two")
owner = await all.owners.create(email=email)
invited = await all.people.create(email="p." + email, role="viewer")
person = invited["personId"]
assert (await all.people.update(person, name="Dee"))["name"] == "Dee"
assert (await all.people.get(person))["role"] == "viewer"
endpoint = await all.webhooks.create(url=None)
which = endpoint["endpointId"]
assert (await all.runs.prompt(run_id, 1))["exact"] is True
try:
    await (await all.runs.attachment(run_id, "none")).read()
    raise AssertionError("There is no such attachment.")
except RunwireError as error:
    assert error.code == "attachment_not_found"
assert endpoint["secret"].startswith("whsec_")
assert (await all.webhooks.update(which, description="Ours"))["description"] == "Ours"
assert (await all.webhooks.get(which))["url"] is None
assert (await all.webhooks.rotate(which))["secret"] != endpoint["secret"]
sent = await all.webhooks.test(which)
delivery = await all.webhooks.delivery(which, sent["deliveryId"])
assert json.loads(delivery["body"])["type"] == "webhook.test"
assert (await all.webhooks.redeliver(which, sent["deliveryId"]))["eventId"] == sent["eventId"]
period = {"from_": "2020-01-01T00:00:00Z", "to": "2100-01-01T00:00:00Z"}
assert await all.webhooks.replay(which, **period) == {"deliveries": 1}
schedule = await all.schedules.create(name="Yearly", cron="0 0 1 1 *", request={"message": "Hi", "consumerId": "a/b"})
yearly = schedule["scheduleId"]
assert (await all.schedules.update(yearly, active=False))["active"] is False
assert (await all.schedules.get(yearly))["cron"] == "0 0 1 1 *"
lists = {
    "schedules": all.schedules.list(), "ticks": all.schedules.ticks(yearly, limit=1),
    "webhooks": all.webhooks.list(), "deliveries": all.webhooks.deliveries(which, limit=1),
    "runs": all.runs.list(limit=1), "steps": all.runs.steps(run_id), "chats": all.chats.list(limit=1),
    "messages": all.chats.messages("c1", limit=1), "members": all.members.list(q="a"),
    "adjustments": all.members.adjustments("a/b"), "usage": all.usage.list(),
    "summary": all.usage.summary(group_by="consumer", from_="2020-01-01T00:00:00Z"),
    "files": all.files.list(folder="/app/mnt/u"), "nodes": all.nodes.list(), "questions": all.questions.list(state="all"),
}
counts = {}
for listed, items in lists.items():
    counts[listed] = len([item async for item in items])
await all.webhooks.delete(which)
everywhere = [all.integrations.list(), all.keys.list(limit=1), all.owners.list(), all.agencies.list()]
for items in [*everywhere, all.people.list(), all.audit.list(target="person:" + person)]:
    assert len([item async for item in items]) > 0
page = await all.chats.list(limit=1).page()
assert len((await all.chats.list(limit=1).page(page["nextCursor"]))["items"]) == 1
assert (await all.usage.latency(model="scripted/model"))["items"][0]["runs"] == 1
assert (await all.overview.get(integration=name))["measures"]["runs"] == 1
again = await all.rerun(run_id, after_step=0)
assert (await all.runs.compare(run_id, with_=(await again.result()).run_id))["text"]["right"] == "Hello"
assert (await (await all.evaluate({"message": "Hi"})).result()).text == "Hello"
assert (await all.agencies.definition("demo"))["agents"][0]["name"] == "Concierge"
await all.people.delete(person)
assert b"usageRequestId" in await (await all.usage.csv()).read()
assert (await (await all.nodes.metrics()).read()).startswith(b"# HELP")
me = await all.me.get()
assert (await all.me.update(name="Root"))["ownerId"] == me["ownerId"]
assert (await all.schedules.run(yearly))["runId"].startswith("run_")
await all.schedules.delete(yearly)
await all.keys.revoke(created["keyId"])
await all.owners.delete(owner["ownerId"])
await all.files.delete(path=file["path"], recursive=False)
assert await all.chats.patch_state("c2", {"chatId": "x"}) == {"chatId": "x"}
assert await all.chats.state("c2") == {"chatId": "x"}
await all.chats.delete("c2")
assert (await all.members.delete("a/b", erase=True))["consumerId"] == "a/b"
assert (await all.members.erasure("a/b"))["status"].startswith("eras")
await all.integrations.delete()
return counts
`;

/** Methods of a client with their parameters, by resource. */
const METHODS = `
def list_methods(owner):
    return {name: str([*inspect.signature(found).parameters]) for name, found in inspect.getmembers(owner, callable)
            if not name.startswith("_")}
found = {name: list_methods(part) for name, part in vars(client).items() if not name.startswith("_")}
return {**found, "": list_methods(client)}
`;

describe('the Python client and the API', { skip: (await missingService('python')) ?? false }, () => {
  const rig = ScriptedServer.shared();
  const python = Python.shared();
  beforeEach(() => rig.controller.answerAll('Hello'));
  const given = (kind: string, more: object = {}) => ({
    ...{ kind, url: rig.server.url, key: TEST_API_KEY, integration: 'demo', name: kind, email: `${kind}@example.com` },
    ...more,
  });

  for (const kind of PYTHON_CLIENTS) {
    test(`${kind} has a method for every operation that needs a key`, async () => {
      await using proxy = await FaultyProxy.start(rig.server.url);
      const requests: string[] = [];
      proxy.plan = ({ method, path }) => {
        requests.push(`${method} ${path}`);
        return null;
      };
      assert.deepEqual(await python.run(EVERYTHING, given(kind, { url: proxy.url })), {
        ...{ runs: 1, steps: 1, chats: 2, messages: 2, members: 1, adjustments: 1, usage: 2, summary: 1, files: 1 },
        ...{ nodes: 1, webhooks: 1, deliveries: 3, schedules: 1, ticks: 0, questions: 0 },
      });
      const missed = Object.values(operations)
        .filter(({ auth, method, path }) => {
          const pattern = new RegExp(`^${method} ${path.replace(/:\w+/g, '[^/?]+')}(\\?.*)?$`);
          return auth && !requests.some((request) => pattern.test(request));
        })
        .map(({ operationId }) => operationId);
      assert.deepEqual(missed, []);
    });

    test(`${kind} names mistakes before it sends anything`, async () => {
      const code = `
        async def mistake(call):
            try:
                await call()
                return "none"
            except ValueError as error:
                return str(error)
        async def make(*arguments, **more):
            Client(*arguments, **more)
        gone = {"apiIntegrationId": "demo", "usageRequestId": None, "runId": None, "chatId": None, "lastEventId": 0}
        client._transport.dialer = None
        return [
            await mistake(lambda: client.members.get(None)),
            await mistake(lambda: client.chats.delete("..")),
            await mistake(lambda: client.runs.get("")),
            await mistake(lambda: client.runs.get("r", integration="")),
            await mistake(lambda: client.attach(gone)),
            await mistake(lambda: Client(url, key).run("Hi")),
            await mistake(lambda: client.upload(io.BytesIO(b"x"), folder="/app/mnt/u")),
            await mistake(lambda: make("", key)),
            await mistake(lambda: make("runwire.example.com", key)),
            await mistake(lambda: make("http://host:port", key)),
            await mistake(lambda: make("https://host/?a=b", key)),
            await mistake(lambda: make(url, "")),
        ]
      `;
      const mistakes = await python.run<string[]>(code, given(kind));
      const expected = [
        ...[/^`consumerId` cannot be None\.$/, /^`chatId` cannot be '\.\.'\.$/, /^`runId` cannot be ''\.$/],
        ...[/^`integration` cannot be ''\.$/, /^The handle names no run/, /^No integration is named/],
        ...[/^The file has no name/, /^`base_url` is empty; .*RUNWIRE_URL/, /^`base_url` must be like .*'runwire\.ex/],
        ...[
          /^`base_url` must be like .*'http:\/\/host:port'/,
          /^`base_url` must be like .*query/,
          /^`api_key` is empty/,
        ],
      ];
      for (const [index, pattern] of expected.entries()) assert.match(mistakes[index] ?? '', pattern);
      assert.equal(mistakes.length, expected.length);
    });

    test(`${kind} gives up early, with address and reason, if no server ever answered`, async () => {
      const url = `http://127.0.0.1:${await freePort()}`;
      const timing = { connect_seconds: 0.3, min_pause_seconds: 0.01 };
      const limits = 'return [client._transport.timing.connect_seconds, client._transport.timing.give_up_seconds]';
      assert.deepEqual(await python.run(limits, given(kind, { url })), [10, 120]);
      for (const code of ['await client.run("Hi")', 'await client.me.get()']) {
        const error = await python.fail(code, given(kind, { url, timing }));
        assert.equal(error.class, 'ConnectionLostError');
        assert.ok(error.message.includes(url), error.message);
        assert.match(error.message, /[Rr]efused|Connect call failed/);
        if (code.includes('run')) assert.match(error.message, / for 0\.3 s: /);
      }
      // A server that never answers is not asked again after this time. Other calls are sent four times.
      let connections = 0;
      await using silent = createServer((socket) => {
        connections += 1;
        socket.on('error', () => {}).destroy();
      }).listen(0, '127.0.0.1');
      await once(silent, 'listening');
      const { port } = silent.address() as AddressInfo;
      const impatient = { connect_seconds: 0.3, min_pause_seconds: 0.8 };
      const lost = given(kind, { url: `http://127.0.0.1:${port}`, timing: impatient });
      assert.equal((await python.fail('await client.me.get()', lost)).class, 'ConnectionLostError');
      assert.ok(connections <= 2, `${connections} connections`);
    });

    test(`${kind} raises if a file was cut`, async () => {
      const path = await upload(rig.api, 'x'.repeat(50_000));
      await using proxy = await FaultyProxy.start(rig.server.url);
      proxy.plan = () => ({ kind: 'cut-answer', afterBytes: 20_000, clean: true });
      const code = 'return len(await (await client.files.content(path=path)).read())';
      const error = await python.fail(code, given(kind, { url: proxy.url, path }));
      assert.equal(error.class, 'ConnectionLostError');
      assert.match(error.message, /^The answer to GET .*\/files\/content was cut: /);
    });

    test(`${kind} shows the error of another server`, async () => {
      await using proxy = await FaultyProxy.start(rig.server.url);
      const body = '{"error":{"message":"No such model.","type":"x"},"code":null}';
      const text = `HTTP/1.1 404 Not Found\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
      proxy.plan = () => ({ kind: 'answer', late: false, text });
      const error = await python.fail('await client.me.get()', given(kind, { url: proxy.url }));
      assert.deepEqual([error.class, error.code, error.status], ['NotFoundError', 'unexpected_answer', 404]);
      assert.match(error.message, /is not from a Runwire server.* Its error: No such model\.$/);
    });

    test(`${kind} asks a function for tokens, and reports if it returns none`, async () => {
      await rig.member('demo', 'ann');
      const code = `
        minted = []
        async def mint(seconds):
            created = await client.tokens.create(consumer_id="ann", expires_in_seconds=seconds)
            minted.append(created["clientToken"])
            return minted[-1]
        async def fresh():
            return await mint(600)
        page = Client(url, fresh)
        texts = [await (await page.run("Hi")).text(), await (await page.run("Hi")).text()]
        page._transport._credentials._renew_at = 0
        await page.chats.list().page()
        asked_again = len(minted)
        page._transport._credentials._token += "x"
        await page.chats.list().page()
        return [texts, asked_again, len(minted), minted[-1] == page._transport._credentials._token]
      `;
      assert.deepEqual(await python.run(code, given(kind)), [['Hello', 'Hello'], 2, 3, true]);
      for (const [value, found] of [
        ['None', 'NoneType'],
        ['""', 'an empty text'],
        ['"a b"', 'text with characters'],
      ]) {
        const error = await python.fail(`await Client(url, lambda: ${value}, "demo").run("Hi")`, given(kind));
        assert.deepEqual([error.class, error.code], ['AuthenticationError', 'invalid_api_key']);
        assert.ok(error.message.includes(`returned no token, but ${found}`), error.message);
      }
    });
  }

  test('both clients have the same methods, and the guide lists all of them', async () => {
    const [sync, asyncio] = await Promise.all(PYTHON_CLIENTS.map((kind) => python.run(METHODS, given(kind))));
    assert.deepEqual(asyncio, sync);
    const guide = readFileSync(join(root, 'docs/client-python.md'), 'utf8');
    const listed = [...guide.matchAll(/^\| `client\.(\w+)` \| (.*) \|$/gm)].map(([, name = '', methods = '']) => [
      name,
      [...methods.matchAll(/`(\w+)`/g)].map(([, method]) => method).sort(),
    ]);
    const { '': _own, ...resources } = sync as Record<string, Record<string, string>>;
    const found = Object.entries(resources).map(([name, methods]) => [name, Object.keys(methods).sort()]);
    assert.deepEqual(Object.fromEntries(listed), Object.fromEntries(found));
  });

  test('an interrupted thread can read on', async () => {
    const code = `
      run = client.run("Go.")
      def interrupt():
          raise KeyboardInterrupt
      run._reader._reading._stream.piece = interrupt
      try:
          run.text()
      except KeyboardInterrupt:
          return run.text()
    `;
    assert.equal(await python.run(code, given('Runwire')), 'Hello');
  });

  test('refuses a coroutine as a function of the client that blocks', async () => {
    const crash = python.run('Client(url, lambda: asyncio.sleep(0), "demo").me.get()', given('Runwire'));
    await assert.rejects(crash, /MustAwaitError: .*use `AsyncRunwire`/);
  });

  test('a cancelled task leaves the run to the next reader', async () => {
    rig.controller.onCall = null;
    const reading = python.run(
      `
      run = await client.run("Go.")
      async def texts(seen):
          async for event in run:
              if event.type == "text":
                  seen.append(event.delta)
      first, second = [], []
      task = asyncio.ensure_future(texts(first))
      other = asyncio.ensure_future(texts(second))
      while not first:
          await asyncio.sleep(0.01)
      task.cancel()
      try:
          await task
      except asyncio.CancelledError:
          first.append("cancelled")
      await client.chats.update(run.handle["chatId"], title="cancelled")
      await other
      return [first, second, await run.text(), len(asyncio.all_tasks())]
      `,
      given('AsyncRunwire'),
    );
    const call = await rig.controller.nextCall();
    await call.text('One ');
    const chat = async () => (await rig.api.get('/v2/integrations/demo/chats?limit=1')).body.items[0];
    while ((await chat()).title !== 'cancelled') await new Promise((resolve) => setTimeout(resolve, 20));
    await call.text('two.');
    await call.end();
    assert.deepEqual(await reading, [['One ', 'cancelled'], ['One ', 'two.'], 'One two.', 1]);
  });
});
