import { test } from 'node:test';
import { type AnyRig, type ApiClient, Rig, type WaitPoint } from '@runwire/test-kit';
import { count, scale } from '@runwire/test-kit/scale.ts';
import { expectAtLeast, expectEqual, named } from '@runwire/test-kit/shortfall.ts';

/*
 * Kills a server before and after the commit of a change, and compares what is stored with the audit log: each change has one
 * event with its actor, and no event is without its change.
 */

interface Change {
  readonly operation: string;
  readonly point: 'account' | 'files' | 'erasure';
  readonly call: (by: ApiClient, n: number) => Promise<unknown>;
  /** Looks for the change. */
  readonly isStored: (by: ApiClient, n: number) => Promise<boolean>;
}

const ONE = '/v2/integrations/one';
const has = async (by: ApiClient, path: string, text: string) =>
  JSON.stringify((await by.get(path)).body).includes(text);

const CHANGES: readonly Change[] = [
  {
    operation: 'createApiKey',
    point: 'account',
    call: (by, n) => by.post('/v2/api_keys', { name: `key-${n}.` }),
    isStored: (by, n) => has(by, '/v2/api_keys?limit=200', `key-${n}.`),
  },
  {
    operation: 'createPerson',
    point: 'account',
    call: (by, n) => by.post('/v2/people', { email: `person-${n}@example.com`, role: 'viewer' }),
    isStored: (by, n) => has(by, '/v2/people?limit=200', `person-${n}@`),
  },
  {
    operation: 'updateIntegration',
    point: 'account',
    call: (by, n) => by.patch(ONE, { name: `name-${n}.` }),
    isStored: (by, n) => has(by, ONE, `name-${n}.`),
  },
  {
    operation: 'putMember',
    point: 'account',
    call: (by, n) => by.put(`${ONE}/members/member-${n}`, {}),
    isStored: async (by, n) => (await by.get(`${ONE}/members/member-${n}`)).status === 200,
  },
  {
    operation: 'createChat',
    point: 'account',
    call: (by, n) => by.post(`${ONE}/chats`, { chatId: `chat-${n}` }),
    isStored: async (by, n) => (await by.get(`${ONE}/chats/chat-${n}`)).status === 200,
  },
  {
    operation: 'createWebhook',
    point: 'account',
    call: (by, n) => by.post(`${ONE}/webhooks`, { url: null, description: `hook-${n}.` }),
    isStored: (by, n) => has(by, `${ONE}/webhooks?limit=200`, `hook-${n}.`),
  },
  {
    operation: 'createSchedule',
    point: 'account',
    call: (by, n) =>
      by.post(`${ONE}/schedules`, { name: `schedule-${n}.`, cron: '0 0 1 1 *', request: { message: 'a' } }),
    isStored: (by, n) => has(by, `${ONE}/schedules?limit=200`, `schedule-${n}.`),
  },
];

/** The change is one of the first transactions of a server. */
const MAX_TRANSACTIONS = 6;
const POINTS = ['before-commit', 'after-commit'] as const;

async function readEvents(by: ApiClient, operation: string) {
  const { items } = (await by.get(`/v2/audit?operation=${operation}&limit=200`)).body;
  return items as readonly { readonly actor: { readonly name: string }; readonly target: string }[];
}

/** Kills a server at its first transactions, until one is the change. Resolves to the number of kills, and of stored changes. */
async function killAt(rig: AnyRig, change: Change, when: (typeof POINTS)[number], first: number) {
  const { operation, point, call, isStored } = change;
  const killed: WaitPoint = `${point}.${when}`;
  const sums = { kills: 0, stored: 0 };
  for (let time = 1; time <= MAX_TRANSACTIONS; time += 1) {
    const n = first + time;
    const before = (await readEvents(rig.server().api, operation)).length;
    await stop(rig);
    // A start has such transactions too.
    const victim = await rig.add({ killAt: killed, killAfter: time }).catch(() => null);
    const answer = victim === null ? null : await call(victim.api, n).catch(() => null);
    await stop(rig);
    const { api } = await rig.add();
    const stored = await isStored(api, n);
    const events = await readEvents(api, operation);
    expectEqual(`${operation}: ${when}: events`, events.length - before, Number(stored));
    for (const { actor } of events) expectEqual(`${operation}: actor`, actor.name, 'RUNWIRE_API_KEY');
    // The server answered: the change was before the transaction at which it would have died.
    if (answer !== null) return sums;
    sums.kills += 1;
    sums.stored += Number(stored);
  }
  return sums;
}

/** Ends the only server. */
async function stop(rig: AnyRig): Promise<void> {
  for (const server of rig.servers.splice(0)) await server.kill();
}

test('a change and its event are stored together, also if the server dies', async () => {
  await using rig = await Rig.start({ nodes: null });
  await rig.prepare({ apiIntegrationId: 'one', agency: 'test' });
  const changes = scale(CHANGES.slice(0, 1), CHANGES);
  const sums = { kills: 0, stored: 0 };
  for (const [index, change] of changes.entries()) {
    for (const [turn, when] of POINTS.entries()) {
      const first = 100 * index + 50 * turn;
      const { kills, stored } = await named(`${change.operation}: ${when}`, killAt(rig, change, when, first));
      sums.kills += kills;
      sums.stored += stored;
    }
  }
  expectAtLeast('changes that a killed server had stored', sums.stored, changes.length);
  count(sums);
});
