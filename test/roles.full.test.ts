import { test } from 'node:test';
import { operations } from '@runwire/contract/schemas';
import { type AnyRig, type ApiClient, Rig } from '@runwire/test-kit';
import { count, scale } from '@runwire/test-kit/scale.ts';
import { expectEqual, named, until } from '@runwire/test-kit/shortfall.ts';
import { ConsolePage } from './support/console-page.ts';
import { COMPATIBLE_OPERATIONS, mayCall, ROLES, type RoleOperation } from './support/role-table.ts';
import { missingService } from './support/services.ts';

/*
 * Calls every operation, on every node, as a person, a key, a scoped key, a client token and another owner, before and after the
 * person's role is changed. Each request is wrong, so an allowed caller gets another refusal, and nothing changes.
 */

const OWN: readonly (RoleOperation & { readonly hasToken: boolean })[] = Object.values(operations)
  .filter(({ auth }) => auth)
  .map(({ operationId: id, method, path, ...rest }) => ({ id, method, path, hasToken: 'clientToken' in rest }));
const ALL: readonly RoleOperation[] = [...OWN, ...COMPATIBLE_OPERATIONS];
/** A change counts on every node within this time. */
const COUNTS_MS = 5000;

type Result = 'allowed' | 'role' | 'owner' | 'token' | 'gone';

/** The sums of attempts, for the figures of the proof. */
let attempts = 0;

async function attempt(by: ApiClient, { method, path }: RoleOperation): Promise<Result> {
  attempts += 1;
  const target = path.replace(/:(\w+)/g, (_, name) => (name === 'apiIntegrationId' ? 'one' : 'none'));
  const body = method === 'GET' || method === 'HEAD' ? undefined : { apiIntegrationId: 5 };
  const { status, body: answer, headers } = await by.call(method, `${target}?wrong=1`, body);
  if (status === 401) return 'gone';
  if (status !== 403) return 'allowed';
  // An answer to HEAD has no body; only answers to tokens have CORS headers.
  const code = answer?.code ?? answer?.error?.code;
  if (code === 'integration_forbidden') return 'owner';
  const isToken = code === 'token_forbidden' || (code === undefined && headers.has('access-control-allow-origin'));
  return isToken ? 'token' : 'role';
}

async function tryAll(who: string, by: ApiClient, expected: (operation: RoleOperation) => Result): Promise<void> {
  for (const operation of ALL)
    expectEqual(`${who}: ${operation.id}`, await attempt(by, operation), expected(operation));
}

const byRole =
  (role: (typeof ROLES)[number], by: Parameters<typeof mayCall>[2]) =>
  (operation: RoleOperation): Result =>
    mayCall(role, operation, by) ? 'allowed' : 'role';

async function prepare(rig: AnyRig) {
  const api = rig.api();
  for (const apiIntegrationId of ['one', 'two']) await rig.prepare({ apiIntegrationId, agency: 'test' }, 'ann');
  const invite = async (role: string) => {
    const email = `${role}-${Math.random()}@example.com`;
    const { status, body } = await api.post('/v2/people', { email, role });
    expectEqual('status of an invitation', status, 201);
    const page = new ConsolePage(rig.server().url);
    expectEqual('set-up', await page.setUp(body.setupLink, email), [204]);
    const { apiKey: _, ...person } = body;
    const token = (await page.post('token')).body.token ?? '';
    return { ...person, token, path: `/v2/people/${body.personId}` };
  };
  return { api, invite };
}

type Preparation = Awaited<ReturnType<typeof prepare>>;

/** Every node refuses below the role, for each kind of caller. */
async function checkTable(rig: AnyRig, { api, invite }: Preparation) {
  for (const role of ROLES) {
    const { apiKey } = (await api.post('/v2/api_keys', { role })).body;
    const { apiKey: scoped } = (await api.post('/v2/api_keys', { role, integrations: ['one'] })).body;
    const { token } = await invite(role);
    for (const [node] of rig.servers.entries()) {
      const at = rig.api(node);
      await tryAll(`key ${role}`, at.as(apiKey), byRole(role, 'key'));
      await tryAll(`scoped key ${role}`, at.as(scoped), byRole(role, 'scoped key'));
      await tryAll(`person ${role}`, at.as(token), byRole(role, 'person'));
    }
  }
  const { clientToken } = (await api.post('/v2/integrations/one/client_tokens', { consumerId: 'ann', can: ['run'] }))
    .body;
  const tokenOperations = OWN.filter(({ hasToken }) => !hasToken);
  for (const operation of tokenOperations) {
    expectEqual(`client token: ${operation.id}`, await attempt(api.as(clientToken), operation), 'token');
  }
  const { apiKey: foreign } = (await api.post('/v2/owners', { email: 'other@example.com' })).body;
  for (const operation of ALL.filter(({ path, method }) => path.includes(':apiIntegrationId') && method !== 'HEAD')) {
    const found = await attempt(api.as(foreign), operation);
    // The query is checked before the owner.
    expectEqual(`other owner: ${operation.id}`, found === 'allowed' || found === 'owner', true);
  }
}

/** A lowered role, and then a removal, count on every node for tokens that every node knows. */
async function checkChanges(rig: AnyRig, { api, invite }: Preparation) {
  const nodes = [...rig.servers.keys()];
  for (const to of scale(['viewer'] as const, ['viewer', 'operator', 'developer'] as const)) {
    const person = await invite('manager');
    const minted = { consumerId: 'ann', expiresInSeconds: 3600 };
    const made = await api.as(person.token).post('/v2/integrations/one/client_tokens', minted);
    const status = async (node: number, path: string, token: string) =>
      (await rig.api(node).as(token).get(path)).status;
    const chats = '/v2/integrations/one/chats';
    for (const node of nodes) {
      expectEqual('people before the change', await status(node, '/v2/people', person.token), 200);
      expectEqual('client token before the change', await status(node, chats, made.body.clientToken), 200);
    }
    expectEqual('status of the change', (await api.patch(person.path, { role: to })).status, 200);
    const counts = (node: number) =>
      until(`the role ${to}`, async () => (await status(node, '/v2/people', person.token)) === 403, {
        limitMs: COUNTS_MS,
      });
    await Promise.all(nodes.map(counts));
    const ofToken = to === 'developer' ? 200 : 401;
    for (const node of nodes) {
      await tryAll(`lowered to ${to}`, rig.api(node).as(person.token), byRole(to, 'person'));
      expectEqual(`client token of a ${to}`, await status(node, chats, made.body.clientToken), ofToken);
    }
    expectEqual('status of the removal', (await api.delete(person.path)).status, 204);
    const isGone = (node: number) =>
      until('the removal', async () => (await status(node, '/v2/me', person.token)) === 401, { limitMs: COUNTS_MS });
    await Promise.all(nodes.map(isGone));
    for (const node of nodes) {
      await tryAll('removed person', rig.api(node).as(person.token), () => 'gone');
      expectEqual('client token of a removed person', await status(node, chats, made.body.clientToken), 401);
    }
  }
}

test('every node allows what the table of roles allows, within 5 s of a change', async (t) => {
  const missing = await missingService('postgres');
  if (missing !== null) return t.skip(missing);
  await using rig = await Rig.start({ nodes: scale(2, 3) });
  const prepared = await prepare(rig);
  await named('changes', checkChanges(rig, prepared));
  // In the gate, test/roles.test.ts tries the table.
  if (scale(false, true)) await named('table', checkTable(rig, prepared));
  count({ attempts });
});
