import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ModelCall,
  ModelController,
  STORES,
  type StoreName,
  scriptedModel,
  startTestServer,
} from '@runwire/test-kit';
import { count, plantedFault, scale } from '@runwire/test-kit/scale.ts';
import { expectAtLeast, expectEqual, named, until, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import { askStore, storedState } from './support/ask-store.ts';
import { answerCase, CASES, dirty, GuardedFolder, type GuardrailCase } from './support/guardrail-cases.ts';
import { KillableServer } from './support/killable-server.ts';
import { messagesFrame } from './support/scripted-server.ts';

/*
 * Every position and verdict of guardrails, in a plain stream, in Text Only Mode, in a delegation and with a structured answer:
 * nothing that was blocked or replaced is sent or stored. Then a run with all positions, whose server is killed at each event:
 * the next attempt asks no guardrail again whose verdict is stored.
 */

const PATH = '/v2/integrations';

/** The places in which the text is found. */
async function findText(text: string, places: Readonly<Record<string, string>>): Promise<string[]> {
  return Object.entries(places).flatMap(([place, found]) => (found.includes(text) ? [place] : []));
}

/** What the end of a run must be. */
function toEnd({ position, verdict }: GuardrailCase): readonly [status: string, code: string | null] {
  const fails = verdict === 'block' && (position === 'input' || position === 'output');
  return fails ? ['failed', 'guardrail_blocked'] : ['completed', null];
}

async function everyCase(store: StoreName): Promise<void> {
  using folder = new GuardedFolder();
  await using controller = await ModelController.start();
  await using server = await startTestServer({
    ...{ store, env: { RUNWIRE_AGENCIES_DIR: folder.path } },
    model: scriptedModel(controller.port),
  });
  const { api, dataDir } = server;
  await api.post(PATH, { apiIntegrationId: 'plain', agency: 'guarded' });
  await api.post(PATH, { apiIntegrationId: 'text', agency: 'guarded', textOnly: true });
  const kept: [name: string, text: string][] = [];
  let asked = 0;
  for (const [index, one] of CASES.entries()) {
    const { position, verdict, mode } = one;
    const name = `${mode} ${position} ${verdict}`;
    const checkCase = async () => {
      const key = `k${index}`;
      folder.forget();
      const before = controller.calls.length;
      controller.onCall = (call) => void answerCase(call, one, key);
      const apiIntegrationId = mode === 'text only' ? 'text' : 'plain';
      const text = dirty(position, verdict, key);
      const message = position === 'input' ? `Go ${text}` : 'Go.';
      const agent = mode === 'structured' ? 'Judge' : 'Lead';
      const complete = async (body: object) => {
        const reader = await api.complete({ apiIntegrationId, chatId: key, agent, ...body } as never);
        await within('the answer', WAIT_MS, reader.whole());
        return reader;
      };
      const reader = await complete({ message });
      const below = `${PATH}/${apiIntegrationId}`;
      const firstRun = String(reader.headers['x-run-id']);
      let last = firstRun;
      let sent = reader.text;
      if (verdict === 'ask') {
        const { pending } = (await api.get(`${below}/runs/${firstRun}`)).body;
        expectEqual('open questions', pending.length, 1);
        expectEqual('calls before the approval', folder.made.length, 0);
        const [{ questionId }] = pending;
        const next = await complete({ message: '', answers: [{ questionId, approve: true }] });
        sent += next.text;
        last = String(next.headers['x-run-id']);
        expectEqual('calls after the approval', folder.made.length, 1);
      }
      const run = (await api.get(`${below}/runs/${last}`)).body;
      expectEqual('end', [run.status, run.error?.code ?? null], toEnd(one));
      expectEqual('checks that were repeated', folder.asked.length - new Set(folder.asked).size, 0);
      asked += folder.asked.length;
      const checked = folder.asked.filter((line) => line.startsWith(`["on_${position}"`) && line.includes(text));
      expectEqual('checks of the text', checked.length, 1);
      if (verdict === 'pass' || verdict === 'ask') return;
      const events = await api.events(last, null, apiIntegrationId);
      await events.whole();
      const prompts = JSON.stringify(controller.calls.slice(before).map(({ request }) => request.prompt));
      const steps = JSON.stringify((await api.get(`${below}/runs/${last}/steps`)).body);
      const record = JSON.stringify(run);
      const messages = JSON.stringify((await api.get(`${below}/chats/${key}/messages`)).body);
      // The chat keeps the caller's message, and the stream shows the arguments that the model wrote.
      const places: Record<string, string> =
        position === 'input'
          ? { prompts }
          : position === 'toolCall'
            ? { made: folder.made.join('\n') }
            : { prompts, sent, events: events.text, steps, record, messages };
      expectEqual('places that have the text', await findText(text, places), []);
      if (position === 'output' || position === 'toolResult') kept.push([name, text]);
      if (verdict === 'replace' && position === 'output')
        expectAtLeast('replacements', sent.split('[removed]').length, 2);
    };
    await named(name, checkCase());
  }
  const rows = [...(await storedState(dataDir))];
  for (const [name, text] of kept) {
    const found = rows.filter((row) => row.includes(text)).map((row) => row.slice(0, 60));
    expectEqual(`${name}: rows that have the text`, found, []);
  }
  count({ cases: CASES.length, checks: asked });
}

/** One run with every position: replaced input, arguments, result, delegated text and answer. */
class KilledRun {
  readonly key: string;
  /** The model waits once readers have seen this event. */
  readonly event: number;
  readonly #lastId: () => number;
  isFree = false;

  constructor(key: string, event: number, lastId: () => number) {
    this.key = key;
    this.event = event;
    this.#lastId = lastId;
  }

  get isHeld(): boolean {
    return !this.isFree && this.#lastId() >= this.event;
  }

  async answer(call: ModelCall): Promise<void> {
    const { key } = this;
    const isHelper = call.request.instructions.startsWith('You are Helper.');
    const seen = call.request.prompt.filter(({ kind }) => kind === 'tool_output').length;
    const piece = async (job: () => Promise<void>) => {
      // The effects of the piece before reach the reader first.
      await sleep(this.isFree ? 0 : 10);
      while (this.isHeld && !call.isClosed) await sleep(10);
      if (!call.isClosed) await job().catch(() => {});
    };
    const words = async (text: string) => {
      for (const part of text.match(/\S+\s*/g) ?? []) await piece(() => call.text(part));
    };
    if (isHelper) await words(`Helped ${dirty('toolResult', 'replace', key)}`);
    else if (seen === 0) {
      await words(`First ${dirty('output', 'replace', key)}`);
      const given = { text: dirty('toolCall', 'replace', key), verdict: 'replace', key };
      await piece(() => call.toolCall(`c1-${key}`, 'look_up', JSON.stringify(given)));
      const message = { recipient_agent: 'Helper', message: `Help ${key}.` };
      await piece(() => call.toolCall(`c2-${key}`, 'send_message', JSON.stringify(message)));
    } else await words(`Last ${dirty('output', 'replace', key)}`);
    await piece(() => call.end());
  }
}

/** The verdicts that are stored, as the agency notes checks: with the guardrail and the tool. */
async function readStored(dataDir: string, runId: string): Promise<Set<string>> {
  const rows = await askStore(dataDir, `select record_json from steps where run_id = '${runId}'`);
  const tools = { c1: 'look_up', c2: 'send_message' } as const;
  const stored = rows.flatMap((row) => {
    const { guardrails, output } = JSON.parse(String(row.record_json));
    return (guardrails?.decisions ?? []).map(({ guardrail, callId }: { guardrail: string; callId?: string }) => {
      const tool = callId === undefined ? '' : tools[callId.slice(0, 2) as keyof typeof tools];
      const text = guardrail === 'on_output' ? (output as { text: string }[]).map(({ text }) => text[0]).join('') : '';
      return `${guardrail} ${tool} ${text}`;
    });
  });
  return new Set(stored);
}

/** A check in the same form. The first letter distinguishes the answers. */
function toCheck(line: string): string {
  const [guardrail, tool, value] = JSON.parse(line) as [string, string, string];
  return `${guardrail} ${tool} ${guardrail === 'on_output' ? value[0] : ''}`;
}

const GROUP = 12;

async function everyEvent(store: StoreName, events: readonly number[]): Promise<void> {
  const fault = plantedFault();
  using folder = new GuardedFolder();
  const options = { store, env: { RUNWIRE_AGENCIES_DIR: folder.path }, ...(fault !== null && { fault }) };
  await using server = await KillableServer.start(options);
  await server.api.post(PATH, { apiIntegrationId: 'own', agency: 'guarded' });
  const runs = new Map<string, KilledRun>();
  server.controller.onCall = (call) => {
    const key = /\bk\d+\b/.exec(JSON.stringify(call.request.prompt))?.[0] ?? '';
    void runs.get(key)?.answer(call);
  };
  let kills = 0;
  for (let from = 0; from < events.length; from += GROUP) {
    const group = await Promise.all(
      events.slice(from, from + GROUP).map(async (event) => {
        const key = `k${event}`;
        let lastId = () => 0;
        const run = new KilledRun(key, event, () => lastId());
        runs.set(key, run);
        const message = `Go ${key}. ${dirty('input', 'replace', key)}`;
        const reader = await server.api.complete({ apiIntegrationId: 'own', chatId: key, agent: 'Lead', message });
        lastId = () => reader.frames.findLast(({ id }) => !Number.isNaN(id))?.id ?? 0;
        return { key, run, reader, runId: String(reader.headers['x-run-id']), lastId, stored: new Set<string>() };
      }),
    );
    const isThere = ({ run, lastId, reader }: (typeof group)[number]) =>
      lastId() >= run.event || reader.text.includes('event: end');
    await until('events of the group', () => group.every(isThere), { pauseMs: 10 });
    await server.process.kill();
    kills += 1;
    for (const one of group) one.stored = await readStored(server.dataDir, one.runId);
    const before = folder.asked;
    for (const { run } of group) run.isFree = true;
    await server.killAndRestart(options);
    for (const { key, run, runId, reader, stored } of group)
      await named(
        `event ${run.event}`,
        (async () => {
          const again = await server.api.events(runId, null, 'own');
          await within('the end', WAIT_MS, again.whole());
          const ended = messagesFrame(again);
          expectEqual('end', [ended.status, again.answer], ['completed', 'First [removed].Last [removed].']);
          const seen = { cut: reader.text, whole: again.text };
          for (const position of ['output', 'toolResult'] as const)
            expectEqual(`places with ${position}`, await findText(dirty(position, 'replace', key), seen), []);
          const isOwn = (line: string) => line.includes(`-${key}.`);
          const after = folder.asked.slice(before.length).filter(isOwn).map(toCheck);
          expectEqual(
            'stored verdicts that were asked for again',
            after.filter((check) => stored.has(check)),
            [],
          );
          expectEqual('checks that were repeated', after.length - new Set(after).size, 0);
          expectEqual('checks', new Set(folder.asked.filter(isOwn).map(toCheck)).size, 6);
        })(),
      );
    count({ kills: 1, taken_over: group.length });
  }
  const rows = [...(await storedState(server.dataDir))];
  const found = rows.filter((row) => /DIRTY-(output|toolResult)-/.test(row)).map((row) => row.slice(0, 60));
  expectEqual('rows that have a replaced text', found, []);
  expectAtLeast('kills', kills, 1);
}

for (const store of STORES) {
  test(`${store}: nothing that was blocked or replaced is sent or stored`, () => everyCase(store));

  test(`${store}: a takeover at any event asks no guardrail again`, async () => {
    const whole = scale(8, 64);
    await everyEvent(
      store,
      Array.from({ length: whole }, (_, index) => (index + 1) * scale(8, 1)),
    );
  });
}
