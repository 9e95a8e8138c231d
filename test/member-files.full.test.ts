import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { type ModelCall, Rig, type StoreName, type StreamReader } from '@runwire/test-kit';
import { count, plantedFault, scale } from '@runwire/test-kit/scale.ts';
import { addTo, expectAtLeast, expectEqual, named, until, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import { AgenciesFolder } from './support/agencies-folder.ts';
import { missingService } from './support/services.ts';
import { type Body, listAll } from './support/story.ts';
import { upload } from './support/uploads.ts';

/*
 * The agent of one member tries to reach the files of another, in every way of `data/member-files.json`. Stream,
 * messages, steps and prompts of its runs are searched for two planted words: one in the files, one in their names.
 */

const ACCESSES = ['chat', 'member', 'all'] as const;
type Access = (typeof ACCESSES)[number];

interface Way {
  readonly id: string;
  readonly what: string;
  readonly calls?: readonly (readonly [tool: string, given: object])[];
  readonly setting?: keyof typeof SETTINGS;
  readonly access?: readonly Access[];
  readonly announce?: string;
  readonly member?: string;
  readonly valid: boolean;
}

const ways = (
  JSON.parse(readFileSync(new URL('./data/member-files.json', import.meta.url), 'utf8')) as {
    readonly ways: Way[];
  }
).ways;

const MEMBERS = '/app/mnt/members';
const OWN = `${MEMBERS}/alice`;
const FOLDER = `${MEMBERS}/bob`;
const FILE = `${FOLDER}/plan.txt`;
const AGENCY = `
name: Files
entryPoints: [Desk]
agents:
  - { name: Desk, description: Answers., instructions: You are Desk. }
  - { name: Clerk, description: Is asked., instructions: You are Clerk. }
  - { name: Lead, description: Takes over., instructions: You are Lead. }
flows:
  - Desk -> Clerk
  - Desk => Lead
`;

/** One value of `fileAccess` on one server, with the files of all members. */
class Stage {
  readonly rig: Rig;
  readonly access: Access;
  /** The planted words. They are in no request. */
  readonly words = { content: `c${randomBytes(8).toString('hex')}`, name: `n${randomBytes(8).toString('hex')}` };
  /** Called before the agent calls its tools, by the run's message. */
  readonly before = new Map<string, () => Promise<unknown>>();
  #requests = 0;

  constructor(rig: Rig, access: Access) {
    this.rig = rig;
    this.access = access;
    rig.model.onCall = (call) => void this.#answer(call).catch(() => {});
  }

  get integration(): string {
    return `files-${this.access}`;
  }

  async prepare(): Promise<void> {
    const { rig, words } = this;
    await rig.prepare({ apiIntegrationId: this.integration, agency: 'files', fileAccess: this.access }, 'alice');
    await this.member('bob');
    const put = (folder: string, filename: string, text: string) =>
      upload(rig.api(), text, { apiIntegrationId: this.integration, folder, filename });
    const secret = `Title\nKEY=${words.content}\n`;
    await put(OWN, 'own.txt', 'OWN=mine');
    for (const name of ['plan.txt', 'caf\u00e9.txt', `${words.name}.txt`])
      await put(FOLDER, name, `KEY=${words.content}`);
    await put(`${FOLDER}/deep/er`, 'plan.txt', `KEY=${words.content}`);
    await put(`${FOLDER}/deep/er`, `${words.name}.txt`, secret);
    await put(`${MEMBERS}/carol-${words.name}`, 'plan.txt', secret);
    await put(`${MEMBERS}/alice2`, 'plan.txt', secret);
    await put(`/app/mnt/${words.name}`, 'top.txt', secret);
    // The controls: each member's agent reads the own file.
    const sandboxFiles = [{ name: 'plan.txt', path: FILE }];
    const other = { consumerId: 'bob', chatId: 'of-bob', aliasChatId: 'alias-of-bob', usageRequestId: 'of-bob' };
    const theirs = await this.run({ ...other, message: 'read', sandboxFiles });
    expectAtLeast('planted words that their owner sees', this.count(theirs), 1);
    const own = await this.run({ ...this.#own('control'), message: 'read-own' });
    expectEqual('whether the agent reads the own file', own.includes('OWN=mine'), true);
  }

  async member(consumerId: string): Promise<void> {
    const { status } = await this.rig.api().put(`${this.rig.path}/members/${encodeURIComponent(consumerId)}`, {});
    expectEqual(`status of the member ${consumerId}`, status < 300, true);
  }

  #own(chatId: string) {
    this.#requests += 1;
    const sandboxFiles = [{ name: 'own.txt', path: `${OWN}/own.txt` }];
    return { consumerId: 'alice', chatId, usageRequestId: `request-${this.#requests}`, sandboxFiles };
  }

  /** A run of this member about a way, in a chat of its own. */
  ask(way: Way, more: Body = {}): Promise<string> {
    return this.run({ ...this.#own(`chat-${way.id}`), message: way.id, ...more });
  }

  /** Resolves to everything that the run shows to its caller and its model, or to the refusal. */
  async run(body: Body): Promise<string> {
    const { rig } = this;
    const reader: StreamReader = await within(
      'head of a run',
      WAIT_MS,
      rig.api().complete({ apiIntegrationId: this.integration, ...body }),
    );
    if (reader.status !== 200) {
      await reader.over;
      return reader.text;
    }
    const { runId, frames } = await rig.follow(reader, { integration: this.integration });
    const { body: run } = await rig.api().get(`${rig.path}/runs/${runId}`);
    expectEqual('status of the run', run.status, 'completed');
    const steps = (await rig.api().get(`${rig.path}/runs/${runId}/steps`)).body;
    const messages = await listAll(rig.api(), `${rig.path}/chats/${run.chatId}/messages`);
    const prompts = rig.model.calls.filter(({ request }) => request.runId === runId).map(({ request }) => request);
    return JSON.stringify([reader.text, frames, run, steps, messages, prompts]);
  }

  count(text: string): number {
    return Object.values(this.words).reduce((sum, word) => sum + text.split(word).length - 1, 0);
  }

  async #answer(call: ModelCall): Promise<void> {
    const { prompt, instructions, runId } = call.request;
    const agent = /^You are (\w+)\./.exec(instructions)?.[1];
    const id = prompt.findLast((item) => item.kind === 'user')?.text.split('\n')[0] ?? '';
    const way = ways.find((one) => one.id === id);
    const outputs = prompt.filter((item) => item.kind === 'tool_output');
    const isFirst = agent === 'Desk' && outputs.length === 0;
    if (way?.setting === 'delegate' && isFirst) {
      await call.toolCall(`ask-${runId}`, 'send_message', JSON.stringify({ recipient_agent: 'Clerk', message: id }));
    } else if (way?.setting === 'hand-off' && isFirst) {
      await call.toolCall(`hand-${runId}`, 'transfer_to_Lead', '{}');
    } else if (outputs.some(({ callId }) => /^(file|ask)-/.test(callId)) || id === 'silent') {
      await call.text(`Done. ${outputs.map(({ output }) => output).join('\n')}`);
    } else {
      await this.before.get(id)?.();
      for (const [index, [tool, given]] of listCalls(id, way, this.rig.dataDir).entries()) {
        await call.toolCall(`file-${index}-${runId}`, tool, given);
      }
    }
    await call.end();
  }

  patch(fields: object): Promise<unknown> {
    return this.rig.api().patch(this.rig.path, fields);
  }

  /** Kills the server and starts another on its data. */
  async restart(): Promise<void> {
    const { rig } = this;
    const dead = rig.servers.length;
    await Promise.all(rig.servers.map((server) => server.kill()));
    await rig.add();
    // Removed last: the reader of the run asks the servers by turns.
    rig.servers.splice(0, dead);
  }
}

function listCalls(id: string, way: Way | undefined, dataDir: string): (readonly [tool: string, given: string])[] {
  const path = id === 'read-own' ? `${OWN}/own.txt` : FILE;
  const fill = (text: string) =>
    text.replace(
      /\{(file|folder|own|data)\}/g,
      (_, name: string) => ({ file: FILE, folder: FOLDER, own: OWN, data: dataDir })[name] ?? '',
    );
  const { calls = [['read_file', { path }]] } = way ?? {};
  return calls.map(([tool, given]) => [tool, fill(JSON.stringify(given))] as const);
}

/** The agent calls its tools only after this was done. If the server is killed in it, the run is resumed and calls again. */
async function during(stage: Stage, way: Way, work: () => Promise<unknown>): Promise<string> {
  let begun: Promise<unknown> | null = null;
  stage.before.set(way.id, async () => {
    begun ??= work();
    await begun;
  });
  return stage.ask(way);
}

const kill = async (stage: Stage) => {
  // The model's call is open: the run has no finished step.
  await stage.restart();
};

const announced = [{ name: 'plan.txt', path: FILE }];
const otherAccess = ({ access }: Stage) => ({ fileAccess: access === 'all' ? 'chat' : 'all' });

/** What happens before and around the run; each resolves to everything that the run shows. */
const SETTINGS = {
  'second-chat': async (stage: Stage, way: Way) => {
    await stage.ask(way, { chatId: 'first-chat', message: 'silent' });
    return stage.ask(way);
  },
  beside: async (stage: Stage, way: Way) =>
    during(stage, way, () =>
      stage.run({ consumerId: 'bob', chatId: 'beside', message: 'read', sandboxFiles: announced }),
    ),
  'other-chat': (stage: Stage, way: Way) => stage.ask(way, { chatId: 'of-bob' }),
  'other-alias': (stage: Stage, way: Way) => stage.ask(way, { chatId: undefined, aliasChatId: 'alias-of-bob' }),
  replay: async (stage: Stage, way: Way) => {
    const ids = { consumerId: 'bob', chatId: 'of-bob', aliasChatId: 'alias-of-bob', usageRequestId: 'of-bob' };
    expectAtLeast(
      'planted words in a replay for their owner',
      stage.count(await stage.run({ ...ids, message: 'read', sandboxFiles: announced })),
      1,
    );
    return stage.ask(way);
  },
  'reused-request': async (stage: Stage, way: Way) => {
    const refused = await stage.ask(way, { usageRequestId: 'of-bob', sandboxFiles: announced });
    return refused + (await stage.ask(way));
  },
  'refused-announcement': async (stage: Stage, way: Way) => {
    const refused = await stage.ask(way, { agent: 'Nobody', sandboxFiles: announced });
    expectEqual('code of the refusal', JSON.parse(refused).code, 'unknown_agent');
    return stage.ask(way);
  },
  'recreated-chat': async (stage: Stage, way: Way) => {
    await stage.ask(way, { consumerId: 'bob', message: 'silent', sandboxFiles: announced });
    await deleteChat(stage, `chat-${way.id}`);
    return stage.ask(way);
  },
  'recreated-own-chat': async (stage: Stage, way: Way) => {
    await stage.ask(way, { message: 'silent', sandboxFiles: announced });
    await deleteChat(stage, `chat-${way.id}`);
    return stage.ask(way);
  },
  'no-member': (stage: Stage, way: Way) => stage.ask(way, { consumerId: undefined }),
  announce: (stage: Stage, way: Way) => {
    const path = way.announce?.replace('{file}', FILE).replace('{own}', OWN);
    return stage.ask(way, { sandboxFiles: [{ name: 'plan.txt', path }] });
  },
  resumed: (stage: Stage, way: Way) => during(stage, way, () => kill(stage)),
  'changed-access': async (stage: Stage, way: Way) => {
    const text = await during(stage, way, () => stage.patch(otherAccess(stage)));
    await stage.patch({ fileAccess: stage.access });
    return text;
  },
  'changed-and-resumed': async (stage: Stage, way: Way) => {
    const text = await during(stage, way, async () => {
      await stage.patch(otherAccess(stage));
      await kill(stage);
    });
    await stage.patch({ fileAccess: stage.access });
    return text;
  },
  'changed-folder': async (stage: Stage, way: Way) => {
    const text = await during(stage, way, () => stage.patch({ memberFolder: '/app/mnt/{consumerId}/alice' }));
    await stage.patch({ memberFolder: `${MEMBERS}/{consumerId}` });
    return text;
  },
  delegate: (stage: Stage, way: Way) => stage.ask(way),
  'hand-off': (stage: Stage, way: Way) => stage.ask(way),
  member: async (stage: Stage, way: Way) => {
    await stage.member(way.member ?? '');
    return stage.ask(way, { consumerId: way.member, sandboxFiles: [] });
  },
};

async function deleteChat({ rig }: Stage, chatId: string): Promise<void> {
  const isDeleted = async () => (await rig.api().delete(`${rig.path}/chats/${chatId}`)).status === 204;
  await until('delete of a chat', isDeleted);
}

/** Tries all ways. Resolves to their number and how often the planted words were seen. */
async function tryAll(rig: Rig, access: Access) {
  const stage = new Stage(rig, access);
  await stage.prepare();
  const counts = { ways: 0, seen: 0, valid: 0 };
  for (const way of ways.filter((one) => one.access?.includes(access) ?? true)) {
    const try_ = way.setting === undefined ? stage.ask(way) : SETTINGS[way.setting](stage, way);
    const seen = stage.count(await named(`${access}: ${way.id} (${way.what})`, try_));
    const what = `${access}: planted words seen by ${way.id} (${way.what})`;
    if (access !== 'all') expectEqual(what, seen, 0);
    else expectEqual(what, seen > 0, way.valid);
    addTo(counts, { ways: 1, seen: access === 'all' ? 0 : seen, valid: Number(access === 'all' && way.valid) });
  }
  return counts;
}

const STORES: readonly StoreName[] = ['sqlite', 'postgres'];

test('no way leads to the files of another member or chat', async (t) => {
  const fault = plantedFault();
  const missing = scale(null, await missingService('postgres'));
  if (missing !== null) return t.skip(missing);
  using agencies = new AgenciesFolder({ 'files/agency.yaml': AGENCY });
  const sum = { ways: 0, seen: 0, valid: 0 };
  for (const store of scale(STORES.slice(0, 1), STORES)) {
    await using rig = await Rig.start({ fault, store, env: { RUNWIRE_AGENCIES_DIR: agencies.path } });
    for (const access of ACCESSES) addTo(sum, await named(store, tryAll(rig, access)));
  }
  count(sum);
});
