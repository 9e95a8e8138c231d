import { test } from 'node:test';
import { type AnyRig, type ModelCall, Rig, SHORT_LEASE } from '@runwire/test-kit';
import { count, plantedFault, scale } from '@runwire/test-kit/scale.ts';
import { addTo, expectEqual, named, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';

/*
 * Triage hands the chat over to Billing; in the next run Billing keeps a value and hands over to Clerk; in the third run Clerk
 * hands over to Triage and the run is cancelled. All hand-offs last. The server of the first and of the second run is killed when
 * the client has seen event 1, event 2, and so on: on the embedded store the next start continues the run, of two nodes the
 * other one does.
 */

/** The frames of both runs if they are not cut, without the last ones. */
const FRAMES = { first: 19, second: 28 };
const SHORT = { first: [5, 12], second: [1, 14] };

type Sums = Record<'chats' | 'kills' | 'cancelled', number>;
type KilledRun = keyof typeof FRAMES;

const getAgent = (call: ModelCall) => /^You are (\w+)\./.exec(call.request.instructions)?.[1] ?? '';

/** Each agent does the same in every attempt: what the prompt has since the message decides. */
async function answer(call: ModelCall): Promise<void> {
  const { prompt } = call.request;
  const since = prompt.slice(prompt.findLastIndex(({ kind }) => kind === 'user'));
  const [message] = since;
  const text = message?.kind === 'user' ? message.text : '';
  const made = since.filter(({ kind }) => kind === 'tool_output').length;
  const transfer = (to: string) => call.toolCall(`to-${to}`, `transfer_to_${to}`, '{}');
  const keep = () => call.toolCall('kept', 'keep_again', JSON.stringify({ id: 'kept', known: [], pauseMs: 0 }));
  switch (`${text} ${getAgent(call)} ${made}`) {
    case 'First. Triage 0':
      await transfer('Billing');
      break;
    case 'Second. Billing 0':
      await keep();
      break;
    case 'Second. Billing 1':
      await transfer('Clerk');
      break;
    case 'Third. Clerk 0':
      await transfer('Triage');
      break;
    case 'Third. Triage 1':
      // The run is cancelled here.
      await call.text('Wait.');
      return;
    default:
      await call.text(`I am ${getAgent(call)}.`);
  }
  await call.end();
}

/** What a run must be: which agents made its model steps, and the hand-offs that its stream shows. */
const RUNS = {
  first: { agents: ['Triage', 'Billing'], updates: ['Billing'], lasting: 'Billing' },
  second: { agents: ['Billing', 'Billing', 'Clerk'], updates: ['Billing', 'Clerk'], lasting: 'Clerk' },
} as const;

class LastingChat {
  readonly #rig: Rig;
  readonly #chatId: string;

  constructor(rig: Rig, chatId: string) {
    this.#rig = rig;
    this.#chatId = chatId;
  }

  async #read(path: string) {
    const { status, body } = await newest(this.#rig).get(`${this.#rig.path}/${path}`);
    expectEqual(`status of ${path}`, status, 200);
    return body;
  }

  async lasting(chatId = this.#chatId): Promise<string | null> {
    return (await this.#read(`chats/${chatId}`)).lastingAgent;
  }

  send(message: string) {
    const ids = { apiIntegrationId: this.#rig.integration, chatId: this.#chatId };
    return newest(this.#rig).complete({ ...ids, message, usageRequestId: `${this.#chatId} ${message}` });
  }

  /** Makes a run, and kills its server at this event; null kills none. Resolves to how many frames it had. */
  async complete(name: KilledRun, killAt: number | null): Promise<number> {
    const reader = await this.send(name === 'first' ? 'First.' : 'Second.');
    const runId = String(reader.headers['x-run-id']);
    if (killAt !== null) {
      const seen = reader.until((one) => one.frames.length >= killAt || one.answer !== '');
      await within(`frame ${killAt}`, WAIT_MS, seen);
      await this.#rig.server().kill();
      this.#rig.servers.shift();
      await this.#rig.add();
    }
    const { frames } = await this.#rig.follow(reader);
    await this.#check(name, runId, frames);
    return frames.length;
  }

  async #check(name: KilledRun, runId: string, frames: readonly { readonly data: string }[]): Promise<void> {
    const { agents, updates, lasting } = RUNS[name];
    const { status, agent } = await this.#read(`runs/${runId}`);
    expectEqual('status and entry point', [status, agent], ['completed', 'Triage']);
    const { items } = await this.#read(`runs/${runId}/steps?limit=100`);
    const models = items.filter(({ kind }: { kind: string }) => kind === 'model');
    const made = models.toReversed().map((step: { agent: string }) => step.agent);
    expectEqual('agents of the run', made, agents);
    const again = await newest(this.#rig).events(runId, null, this.#rig.integration);
    await again.whole();
    expectEqual('hand-offs in the stored stream', listUpdates(again.frames), updates);
    // A reader that was cut may have seen a hand-off that was repeated.
    expectEqual('hand-offs that the reader saw', [...new Set(listUpdates(frames))], updates);
    expectEqual('lasting agent', await this.lasting(), lasting);
    const fork = async (body: object) =>
      (await newest(this.#rig).post(`${this.#rig.path}/chats/${this.#chatId}/fork`, body)).body.chatId;
    expectEqual('lasting agent of a fork', await this.lasting(await fork({ runId })), lasting);
    const before = await this.lasting(await fork({ runId, before: true }));
    expectEqual('lasting agent of a fork before the run', before, name === 'first' ? null : 'Billing');
  }

  /** The third run hands over, and is cancelled. */
  async cancel(): Promise<void> {
    const reader = await this.send('Third.');
    await within('text of the third run', WAIT_MS, reader.untilText('Wait.'));
    const path = `${this.#rig.path}/runs/${reader.headers['x-run-id']}/cancel`;
    expectEqual('status of the cancel', (await newest(this.#rig).post(path, { mode: 'immediate' })).status, 200);
    await this.#rig.follow(reader);
    expectEqual('lasting agent after a cancelled run', await this.lasting(), 'Clerk');
    expectEqual('the state', await this.#read(`chats/${this.#chatId}/state`), { kept: [], last: 'kept' });
  }
}

function newest(rig: AnyRig) {
  const api = rig.servers.at(-1)?.api;
  if (api === undefined) throw new Error('No server is alive.');
  return api;
}

const listUpdates = (frames: readonly { readonly data: string }[]): string[] =>
  frames.flatMap(({ data }) => {
    const frame = data.startsWith('{') ? JSON.parse(data).data : undefined;
    return frame?.type === 'agent_updated_stream_event' ? [frame.new_agent.name] : [];
  });

async function killAtEvents(rig: Rig, sums: Sums): Promise<void> {
  await rig.prepare({ apiIntegrationId: 'lasting', agency: 'lasting' });
  rig.model.onCall = (call) => void answer(call).catch(() => {});
  for (const killed of ['first', 'second'] as const) {
    const every = Array.from({ length: FRAMES[killed] }, (_, index) => index + 1);
    for (const event of [null, ...scale(SHORT[killed], every)]) {
      const chat = new LastingChat(rig, `${killed} ${event ?? 'whole'}`);
      const label = `${killed} run, killed at event ${event ?? 'none'}`;
      const at = (name: KilledRun) => (name === killed ? event : null);
      const first = await named(`${label}: first run`, chat.complete('first', at('first')));
      const second = await named(`${label}: second run`, chat.complete('second', at('second')));
      if (event === null) expectEqual('frames of both runs', [first, second], [FRAMES.first + 2, FRAMES.second + 2]);
      await named(`${label}: third run`, chat.cancel());
      addTo(sums, { chats: 1, kills: event === null ? 0 : 1, cancelled: 1 });
    }
  }
}

test('every attempt begins with the agent that the last completed run chose', async () => {
  const fault = plantedFault();
  const sums: Sums = { chats: 0, kills: 0, cancelled: 0 };
  const agencyFolders = ['lasting'] as const;
  {
    await using rig = await Rig.start({ fault, agencyFolders });
    await killAtEvents(rig, sums);
  }
  if (fault === null) {
    await using rig = await Rig.start({ nodes: 2, limits: SHORT_LEASE, agencyFolders });
    await killAtEvents(rig, sums);
  }
  count(sums);
});
