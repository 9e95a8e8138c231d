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

const POINTS = ['before-commit', 'after-commit'] as const;

async function readEvents(by: ApiClient, operation: string) {
  const { items } = (await by.get(`/v2/audit?operation=${operation}&limit=200`)).body;
  return items as readonly { readonly actor: { readonly name: string }; readonly target: string }[];
}

async function killAt(rig: AnyRig, change: Change, when: (typeof POINTS)[number], n: number): Promise<boolean> {
  const { operation, point, call, isStored } = change;
  const killed: WaitPoint = `${point}.${when}`;
  const before = (await readEvents(rig.server().api, operation)).length;
  await rig.server().kill();
  rig.servers.length = 0;
  const victim = await rig.add({ killAt: killed });
  await call(victim.api, n).catch(() => {});
  await victim.kill();
  rig.servers.length = 0;
  const { api } = await rig.add();
  const stored = await isStored(api, n);
  const events = await readEvents(api, operation);
  expectEqual(`${operation}: ${when}: events`, events.length - before, Number(stored));
  for (const { actor } of events) expectEqual(`${operation}: actor`, actor.name, 'RUNWIRE_API_KEY');
  return stored;
}

test('a change and its event are stored together, also if the server dies', async () => {
  await using rig = await Rig.start({ nodes: null });
  await rig.prepare({ apiIntegrationId: 'one', agency: 'test' });
  const changes = scale(CHANGES.slice(0, 1), CHANGES);
  let stored = 0;
  let kills = 0;
  for (const change of changes) {
    for (const when of POINTS) {
      kills += 1;
      stored += Number(await named(`kill ${kills}`, killAt(rig, change, when, kills)));
    }
  }
  expectAtLeast('kills after which the change is stored', stored, changes.length);
  count({ kills, stored });
});
