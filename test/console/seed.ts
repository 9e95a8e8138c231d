import { makePng, type StreamReader } from '@runwire/test-kit';
import { expectEqual, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import { upload } from '../support/uploads.ts';
import type { ConsoleRig } from './console-rig.ts';

const DAY_MS = 86_400_000;

/** How many days ago something happened. */
const PAST_DAYS = [9, 4, 1];

const INTEGRATION = 'shop';
const OTHER_INTEGRATION = 'docs';
const PATH = `/v2/integrations/${INTEGRATION}`;

const NAMES = `Ada Lindqvist, Bao Nguyen, Chiara Rossi, Dmitri Volkov, Emeka Obi, Farah Haddad, Greta Holm, Hiro Tanaka,
  Ines Pereira, Jonas Weber, Kavya Rao, Liam Byrne, Mei Lin, Noor Aziz, Olga Petrova, Pablo Ruiz, Quinn Murphy, Rosa Diaz,
  Sven Olsen, Tala Masri, Uma Patel, Viktor Horvat, Wanda Nowak, Ximena Soto, Yusuf Kaya, Zoe Martin, Amara Diallo,
  Bruno Costa, Celine Dubois, Daniel Kim`
  .split(',')
  .map((name) => name.trim());

/** What every console rig has in its store. */
export interface Seed {
  /** Has members with allowances, chats, files, and usage of several days. */
  readonly integration: string;
  /** Has neither members nor allowances. */
  readonly otherIntegration: string;
  /** The members' ids, and their names in the same order. Every seventh is not active. */
  readonly members: readonly string[];
  readonly names: readonly string[];
  /** The chats by what happened in them last. */
  readonly chats: Readonly<Record<ChatName, string>>;
  /** The last run of each of these chats. */
  readonly runs: Readonly<Record<ChatName, string>>;
  /** The folder that has folders and files. */
  readonly folder: string;
}

/** What the last message of a chat lets the scripted model do; see `ScriptedAnswers`. */
const CHATS = {
  completed: 'Where is my order?',
  thinking: 'think about my order',
  tool: 'tool find_order {"order":"A-1001","ofAccount":1234567890123456789}',
  brokenTool: 'tool list_parcels {"order":"A-1001"}',
  team: 'team up and find out about my order',
  asking: 'tool refund {"order":"A-1001","cents":9900}',
  failed: 'fail please',
  cancelled: 'hold on',
} as const;

export type ChatName = keyof typeof CHATS;

const memberId = (index: number) => `user-${String(index + 1).padStart(2, '0')}`;
const members = NAMES.map((_, index) => memberId(index));
const isActive = (index: number) => index % 7 !== 6;

const NO_CHATS = Object.fromEntries(Object.keys(CHATS).map((name) => [name, ''])) as Record<ChatName, string>;
/** A new installation's store. */
export const NO_SEED: Seed = {
  integration: 'demo',
  otherIntegration: 'demo',
  members: [],
  names: [],
  chats: NO_CHATS,
  runs: NO_CHATS,
  folder: '',
};

/** Fills the store by the public API, on several days, and leaves the server running. */
export async function seed(rig: ConsoleRig): Promise<Seed> {
  for (const [index, days] of PAST_DAYS.entries()) {
    await rig.startServer({ aheadMs: -days * DAY_MS });
    if (index === 0) await seedAccounts(rig);
    const past = [0, 1, 2, 3 + index, 7 + index].map((who) => {
      const ids = { chatId: `past-${days}-${who}`, consumerId: memberId(who) };
      return complete(rig, { ...ids, message: CHATS.completed });
    });
    await Promise.all(past);
    await rig.stopServer();
  }
  await rig.startServer();
  await seedFiles(rig);
  const chats = Object.fromEntries(Object.keys(CHATS).map((name) => [name, `chat-${name}`]));
  const runs = await Promise.all(
    Object.entries(CHATS).map(async ([name, message], index) => [name, await seedChat(rig, { name, message, index })]),
  );
  return {
    integration: INTEGRATION,
    otherIntegration: OTHER_INTEGRATION,
    members,
    names: NAMES,
    chats: chats as Seed['chats'],
    runs: Object.fromEntries(runs) as Seed['runs'],
    folder: '/app/mnt/reports',
  };
}

async function seedAccounts({ api }: ConsoleRig): Promise<void> {
  const shop = {
    apiIntegrationId: INTEGRATION,
    name: 'Web shop',
    agency: 'support',
    allowances: { unit: 'tokens', limit: 20_000, period: 'month' },
    maxRunsPerMember: 3,
    fileAccess: 'all',
  };
  expectEqual('status of an integration', (await api.post('/v2/integrations', shop)).status, 201);
  const docs = { apiIntegrationId: OTHER_INTEGRATION, name: 'Help pages' };
  expectEqual('status of an integration', (await api.post('/v2/integrations', docs)).status, 201);
  for (const [index, name] of NAMES.entries()) {
    const own = index % 5 === 3 ? { allowance: { limit: 1000 * (index + 1) } } : {};
    const member = { name, metadata: { plan: index % 2 === 0 ? 'Pro' : 'Free' }, ...own };
    expectEqual('status of a member', (await api.put(`${PATH}/members/${memberId(index)}`, member)).status, 201);
    if (!isActive(index)) await api.put(`${PATH}/members/${memberId(index)}`, { active: false });
  }
  const correction = { amount: 500, unit: 'tokens', reason: 'An answer was repeated.', idempotencyKey: 'seed-1' };
  const { status } = await api.post(`${PATH}/members/${memberId(0)}/adjustments`, correction);
  expectEqual('status of an adjustment', status, 201);
}

let requests = 0;

async function begin({ api }: ConsoleRig, body: object): Promise<{ reader: StreamReader; runId: string }> {
  requests += 1;
  const ids = { apiIntegrationId: INTEGRATION, usageRequestId: `seed-${requests}` };
  const reader = await api.complete({ ...ids, ...body });
  expectEqual('status of a run', reader.status, 200);
  return { reader, runId: String(reader.headers['x-run-id']) };
}

/** Resolves to the run's id when it has ended. */
async function complete(rig: ConsoleRig, body: object): Promise<string> {
  const { reader, runId } = await begin(rig, body);
  await within('end of a run', WAIT_MS, reader.over);
  return runId;
}

/** A chat with some messages, whose last one has this outcome. Resolves to its last run's id. */
async function seedChat(
  rig: ConsoleRig,
  { name, message, index }: { readonly name: string; readonly message: string; readonly index: number },
): Promise<string> {
  const body = { chatId: `chat-${name}`, consumerId: memberId(index % 3), message };
  if (name === 'asking') return complete(rig, { ...body, agent: 'Billing' });
  await complete(rig, { ...body, message: `Hello, I have a question (${name}).` });
  if (name !== 'cancelled') return complete(rig, body);
  const { reader, runId } = await begin(rig, body);
  await within('text of the run to cancel', WAIT_MS, reader.untilText('while'));
  const { status } = await rig.api.post(`${PATH}/runs/${runId}/cancel`, {});
  expectEqual('status of a cancel', status, 200);
  await within('end of a cancelled run', WAIT_MS, reader.over);
  return runId;
}

async function seedFiles({ api }: ConsoleRig): Promise<void> {
  const file = (path: string, bytes: string | Uint8Array, contentType = 'text/plain') => {
    const at = path.lastIndexOf('/');
    const names = { folder: `/app/mnt/reports${path.slice(0, at)}`, filename: path.slice(at + 1), contentType };
    return upload(api, bytes, { apiIntegrationId: INTEGRATION, ...names });
  };
  await file('/summary.md', '# Summary\n\nEverything *arrived*.\n', 'text/markdown');
  await file('/orders.csv', 'order,parcels\nA-1001,2\n', 'text/csv');
  await file('/parcel.png', makePng(2000), 'image/png');
  for (const month of ['september', 'october', 'november']) {
    await file(`/2026/${month}.json`, JSON.stringify({ month, orders: 12 }), 'application/json');
  }
}
