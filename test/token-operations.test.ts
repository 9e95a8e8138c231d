import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { type AnyRig, type ApiClient, type ModelCall, Rig } from '@runwire/test-kit';
import { count, scale } from '@runwire/test-kit/scale.ts';
import { expectAtLeast, expectEqual, named, until, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import { cites } from '../requirements/cite.ts';
import { clientTokenKey, forgedToken, toPart } from './support/forged-token.ts';
import { missingService } from './support/services.ts';
import { signing, upload } from './support/uploads.ts';

/*
 * Calls every operation of the API description with client tokens, for runs, chats and files of their own member and of
 * others. The expected permissions are listed below. If an operation is not listed, the proof fails.
 */

const PERMISSIONS = ['run', 'read', 'upload', 'files', 'answer'] as const;
type Permission = (typeof PERMISSIONS)[number];

const TABLE: Readonly<Record<Permission, string>> = {
  run: 'getCompletionV2 cancelRun',
  read: 'getChatStatus getRun listRunSteps getRunEvents getRunAttachment listChats getChat listChatMessages',
  upload: 'createAgencyUpload',
  files: 'listFiles getFileContent headFileContent',
  answer: '',
};

/** The operations that no client token may call. */
const CLOSED = `
  createIntegration listIntegrations getIntegration updateIntegration deleteIntegration
  putMember getMember deleteMember getErasure listMembers createAdjustment listAdjustments createClientToken
  createSchedule listSchedules getSchedule updateSchedule deleteSchedule runSchedule listScheduleTicks
  createChat updateChat deleteChat forkChat listQuestions answerQuestions listRuns getStepPrompt rerunRun compareRuns runEval listUsage summariseUsage summariseLatency deleteFile
  createWebhook listWebhooks getWebhook updateWebhook deleteWebhook rotateWebhook testWebhook replayWebhook
  listWebhookDeliveries getWebhookDelivery redeliverWebhook
  createPerson listPeople getPerson updatePerson deletePerson listAudit
  createApiKey listApiKeys revokeApiKey createOwner listOwners deleteOwner getMe updateMe getOverview listAgencies getAgencyDefinition
  listNodes getMetrics`;

const words = (text: string) => text.trim().split(/\s+/).filter(Boolean);

/** The permission of each operation; null if no token may call it. */
const EXPECTED = new Map<string, Permission | null>([
  ...PERMISSIONS.flatMap((permission) => words(TABLE[permission]).map((id) => [id, permission] as const)),
  ...words(CLOSED).map((id) => [id, null] as const),
]);

interface ApiOperation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly hasBody: boolean;
}

/** What a request names. */
interface Target {
  readonly integration: string;
  readonly consumerId: string;
  readonly chatId: string;
  readonly runId: string;
  readonly folder: string;
}

type Refusal = readonly [status: number, code: string];
/** True if the operation must succeed. */
type Expectation = true | Refusal;

const FORBIDDEN: Refusal = [403, 'token_forbidden'];
const REFUSED: Refusal = [401, 'invalid_api_key'];
const ANY_404: Refusal = [404, ''];

const SECRET = 'a-secret-of-this-proof-0123456789-0123456789';
const PAGES = 'pages';
const getFolder = (consumerId: string) => `/app/mnt/members/${consumerId}`;

/** Operations on a run or a chat, as opposed to lists, files and new runs. */
const namesOne = ({ id, path }: ApiOperation) => /\{(runId|chatId)\}/.test(path) || id === 'getChatStatus';
const usesFolder = ({ id }: ApiOperation) =>
  /^(getCompletionV2|createAgencyUpload|listFiles|(get|head)FileContent)$/.test(id);

/** One installation with two members, their runs and files, and a second integration. */
class Stage {
  readonly rig: AnyRig;
  readonly operations: readonly ApiOperation[];
  /** Planted in the ids, messages and file names of the other member and of the second chat. */
  readonly secrets = { bob: `b${randomBytes(8).toString('hex')}`, second: `s${randomBytes(8).toString('hex')}` };
  /** The contexts that the tool got. */
  readonly contexts: unknown[] = [];
  attempts = 0;
  #requests = 0;

  private constructor(rig: AnyRig, operations: readonly ApiOperation[]) {
    this.rig = rig;
    this.operations = operations;
    rig.model.onCall = (call) => void this.#answer(call).catch(() => {});
  }

  static async of(rig: AnyRig): Promise<Stage> {
    const { paths } = (await rig.api().get('/openapi.json')).body as { paths: Record<string, Record<string, object>> };
    const described = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, operation]) => {
        const { operationId, security, requestBody } = operation as Readonly<Record<string, unknown>>;
        const needsKey = !(Array.isArray(security) && security.length === 0);
        const hasBody = requestBody !== undefined;
        return needsKey ? [{ id: String(operationId), method: method.toUpperCase(), path, hasBody }] : [];
      }),
    );
    const ids = described.map(({ id }) => id).sort();
    expectEqual('operations that are in the table of this proof', ids, [...EXPECTED.keys()].sort());
    return new Stage(rig, described);
  }

  async #answer(call: ModelCall): Promise<void> {
    const { prompt } = call.request;
    const asked = prompt.findLast((item) => item.kind === 'user')?.text ?? '';
    const output = prompt.findLast((item) => item.kind === 'tool_output')?.output;
    if (output !== undefined) this.contexts.push(JSON.parse(output).context);
    if (asked.startsWith('context') && output === undefined) await call.toolCall('call_1', 'echo', '{}');
    else await call.text(`About ${asked}`);
    await call.end();
  }

  /** A run of this member in a new chat, with a file in the member's folder. */
  async begin(consumerId: string, chatId: string, integration = PAGES): Promise<Target> {
    const api = this.rig.api();
    const folder = getFolder(consumerId);
    await upload(api, consumerId, { apiIntegrationId: integration, folder, filename: 'a.txt' });
    const body = { apiIntegrationId: integration, consumerId, chatId, usageRequestId: `of-${chatId}`, message: chatId };
    const { runId } = await this.rig.follow(await api.complete(body), { integration });
    return { integration, consumerId, chatId, runId, folder };
  }

  async mint(fields: object, by = this.rig.api()): Promise<string> {
    const body = { consumerId: 'alice', can: PERMISSIONS, ...fields };
    const answer = await by.post(`/v2/integrations/${PAGES}/client_tokens`, body);
    expectEqual('status of a new token', answer.status, 201);
    return answer.body.clientToken;
  }

  #toRequest({ id, path, hasBody }: ApiOperation, target: Target): readonly [path: string, body: object | undefined] {
    const { integration, consumerId, chatId, runId, folder } = target;
    const ids: Readonly<Record<string, string>> = { apiIntegrationId: integration, consumerId, chatId, runId };
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? 'some-id');
    const queries: Readonly<Record<string, string>> = {
      getChatStatus: `?usageRequestId=of-${chatId}`,
      listFiles: `?folder=${folder}`,
      getFileContent: `?path=${folder}/a.txt`,
      headFileContent: `?path=${folder}/a.txt`,
      deleteFile: `?path=${folder}/a.txt`,
      summariseUsage: '?groupBy=day',
    };
    this.#requests += 1;
    const sandboxFiles = [{ name: 'a.txt', path: `${folder}/a.txt` }];
    const ofRun = { apiIntegrationId: integration, consumerId, chatId, usageRequestId: `request-${this.#requests}` };
    const bodies: Readonly<Record<string, object>> = {
      getCompletionV2: { ...ofRun, message: 'Hello', sandboxFiles },
      createAgencyUpload: signing(1, { apiIntegrationId: integration, folder, filename: `new-${this.#requests}` }),
      createClientToken: { consumerId },
      createAdjustment: { amount: 1, unit: 'tokens', reason: 'a', idempotencyKey: 'a' },
      createOwner: { email: 'third@example.com' },
      createPerson: { email: 'fourth@example.com', role: 'viewer' },
      createSchedule: { name: 'a', cron: '0 0 1 1 *', request: { message: 'a' } },
    };
    return [filled + (queries[id] ?? ''), hasBody ? (bodies[id] ?? {}) : undefined];
  }

  /** Calls the operation, and checks the answer. It must contain none of the planted words. */
  async attempt(
    what: string,
    by: ApiClient,
    operation: ApiOperation,
    target: Target,
    { expected, hidden = [], origin }: { expected: Expectation; hidden?: readonly string[]; origin?: string },
  ): Promise<Headers> {
    this.attempts += 1;
    const { method, id } = operation;
    const [path, body] = this.#toRequest(operation, target);
    const call = by.call(method, path, body, origin === undefined ? {} : { origin });
    const { status, body: answer, headers } = await within(`${what}: ${id}`, WAIT_MS, call);
    const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
    // An answer to HEAD has no body, and which of the codes a 404 has depends on the operation.
    const code = answer?.code ?? (method === 'HEAD' && expected !== true ? expected[1] : '');
    const found = status < 300 ? true : [status, status === 404 ? '' : code];
    expectEqual(`${what}: ${id}`, found, expected);
    const seen = hidden.reduce((sum, word) => sum + text.split(word).length - 1, 0);
    expectEqual(`${what}: ${id}: planted words`, seen, 0);
    return headers;
  }

  /** Calls every operation. */
  async attemptAll(
    what: string,
    by: ApiClient,
    target: Target,
    expected: (operation: ApiOperation, permission: Permission | null) => Expectation,
    hidden: readonly string[] = [],
  ): Promise<void> {
    for (const operation of this.operations) {
      const permission = EXPECTED.get(operation.id) ?? null;
      // The small form tries the operations that no token may call with the first token only.
      if (permission === null && what !== 'own member' && scale(true, false)) continue;
      await this.attempt(what, by, operation, target, { expected: expected(operation, permission), hidden });
    }
  }
}

async function prepare(rig: AnyRig) {
  const stage = await Stage.of(rig);
  await rig.prepare({ apiIntegrationId: 'others', agency: 'test' }, 'alice');
  await rig.prepare({ apiIntegrationId: PAGES, agency: 'test', defaultAgent: 'Clerk' }, 'alice');
  for (const member of ['bob', 'idle']) {
    expectEqual('status of a member', (await rig.api().put(`${rig.path}/members/${member}`, {})).status, 201);
  }
  const { bob, second } = stage.secrets;
  return {
    stage,
    own: await stage.begin('alice', 'c-alice'),
    otherChat: await stage.begin('alice', `c-${second}`),
    otherMember: await stage.begin('bob', `c-${bob}`),
    otherIntegration: await stage.begin('alice', 'c-alice', 'others'),
  };
}

type Scene = Awaited<ReturnType<typeof prepare>>;

/** What is expected if the request names a run, a chat or a member that the token must not see. */
function hiddenThings(operation: ApiOperation, permission: Permission | null): Expectation {
  if (permission === null || operation.id === 'getCompletionV2') return FORBIDDEN;
  return namesOne(operation) ? ANY_404 : true;
}

const open = (permission: Permission | null): Expectation => (permission === null ? FORBIDDEN : true);

/** The member's other chats, other folders, and another integration. */
async function checkOthers(
  { stage, own, otherChat, otherIntegration }: Scene,
  by: ApiClient,
  hidden: readonly string[],
) {
  const { rig, secrets } = stage;
  const api = rig.api();
  await stage.attemptAll('other chat', api.as(await stage.mint({ chatId: own.chatId })), otherChat, hiddenThings, [
    ...hidden,
    secrets.second,
  ]);
  await stage.attemptAll(
    'other folder',
    by,
    { ...own, folder: getFolder('bob') },
    (operation, permission) => (usesFolder(operation) ? FORBIDDEN : open(permission)),
    hidden,
  );
  await stage.attemptAll('other integration', by, otherIntegration, () => FORBIDDEN, hidden);
}

/** Tokens that are valid, for things that they may and may not reach. */
async function checkReach(scene: Scene): Promise<void> {
  const { stage, own, otherMember } = scene;
  const { rig, secrets } = stage;
  const api = rig.api();
  const hidden = [secrets.bob];
  const by = api.as(await stage.mint({}));
  await stage.attemptAll('own member', by, own, (_, permission) => open(permission), hidden);
  await stage.attemptAll('other member', by, { ...otherMember, folder: own.folder }, hiddenThings, hidden);
  if (scale(false, true)) await checkOthers(scene, by, hidden);
  for (const missing of PERMISSIONS) {
    const can = PERMISSIONS.filter((permission) => permission !== missing);
    const token = api.as(await stage.mint({ can, folder: own.folder }));
    const expected = (_: ApiOperation, permission: Permission | null) =>
      open(permission === missing ? null : permission);
    await stage.attemptAll(`without ${missing}`, token, own, expected, hidden);
  }
  const answers = async (can: readonly Permission[]) => {
    const body = { message: '', answers: [{ questionId: 'qst_1', approve: true }] };
    const { status, body: answer } = await api.as(await stage.mint({ can })).post('/get_completion_v2', body);
    return [status, answer.code];
  };
  expectEqual('answers without permission', await answers(['run']), FORBIDDEN);
  expectEqual('answers with permission', await answers(['run', 'answer']), [400, 'question_not_pending']);
}

/** Tokens that have ended, and tokens of another kind. */
async function checkEnds({ stage, own }: Scene): Promise<void> {
  const { rig } = stage;
  const api = rig.api();
  const all401 = (what: string, token: string, turn = 0) =>
    stage.attemptAll(what, rig.api(turn).as(token), own, () => REFUSED);
  const token = await stage.mint({});
  const { keyId, apiKey } = (await api.post('/v2/api_keys', {})).body;
  const claims = toPart(token, 1);
  const key = clientTokenKey(SECRET);
  const same = await api.as(forgedToken(claims, 'client+jwt', key)).get(`${rig.path}/chats`);
  expectEqual('status with a token that is signed as the server signs', same.status, 200);
  await all401('expired', forgedToken({ ...claims, exp: Math.floor(Date.now() / 1000) - 1 }, 'client+jwt', key));
  await all401('token used as key', forgedToken({ ...claims, jti: keyId }, 'JWT', key));
  await all401('key used as token', forgedToken(toPart(apiKey, 1), 'client+jwt', SECRET));
  for (const operation of stage.operations.filter(({ id }) => (EXPECTED.get(id) ?? null) !== null)) {
    const origin = 'https://app.example.com';
    const ofKey = await stage.attempt('key', api.as(apiKey), operation, own, { expected: true, origin });
    expectEqual(`CORS of a key: ${operation.id}`, ofKey.get('access-control-allow-origin'), null);
    const ofToken = await stage.attempt('token', api.as(token), operation, own, { expected: true, origin });
    expectEqual(`CORS of a token: ${operation.id}`, ofToken.get('access-control-allow-origin'), '*');
  }
  const ofIdle = await stage.mint({ consumerId: 'idle' });
  const minted = await stage.mint({}, api.as(apiKey));
  const status = async (node: number, by = minted) => (await rig.api(node).as(by).get(`${rig.path}/chats`)).status;
  const nodes = [...rig.servers.keys()];
  // Every node has the tokens in its cache.
  for (const node of nodes) {
    expectEqual('status before the revocation', await status(node), 200);
    expectEqual('status while the member is active', await status(node, ofIdle), 200);
  }
  await rig.api().put(`${rig.path}/members/idle`, { active: false });
  expectEqual('status of the revocation', (await api.delete(`/v2/api_keys/${keyId}`)).status, 204);
  const what = 'the refusal of a token whose key was revoked';
  await Promise.all(nodes.map((node) => until(what, async () => (await status(node)) === 401, { limitMs: 5000 })));
  for (const node of nodes) {
    await all401('key revoked', minted, node);
    await all401('member inactive', ofIdle, node);
  }
}

/** No context of a page reaches a tool. */
async function checkContext({ stage, own }: Scene) {
  const api = stage.rig.api();
  const planted = `p${randomBytes(8).toString('hex')}`;
  const context = { plan: 'pro' };
  const token = await stage.mint({ userContext: context });
  const values = [planted, { plan: planted }];
  const names = ['user_context', 'userContext', 'user-context', 'USER_CONTEXT', 'context', 'toolContext', '__proto__'];
  const bodies = names.flatMap((name) => values.map((value) => `${JSON.stringify(name)}:${JSON.stringify(value)}`));
  bodies.push(`"user_context":null,"user_context":"${planted}"`, `"user_context":null`, '"ok":1');
  let admitted = 0;
  for (const [index, field] of bodies.entries()) {
    const text = `{"message":"context","chatId":"context-${index}",${field}}`;
    const { status } = await api.as(token).call('POST', `/get_completion_v2?user_context=${planted}`, text, {
      'x-user-context': planted,
      cookie: `user_context=${planted}`,
    });
    expectEqual(`context: ${field}: status`, status === 200 || status === 400, true);
    if (status === 200) admitted += 1;
  }
  expectEqual('contexts that tools got', stage.contexts, Array(admitted).fill(context));
  expectAtLeast('admitted runs with a context', admitted, 3);
  // The control: the owner's own context reaches the tool.
  await stage.rig.follow(
    await api.complete({
      apiIntegrationId: PAGES,
      consumerId: own.consumerId,
      message: 'context',
      user_context: planted,
    }),
    { integration: PAGES },
  );
  expectEqual('the context of the owner', stage.contexts.at(-1), planted);
  const leaked = stage.contexts.slice(0, -1).filter((got) => JSON.stringify(got).includes(planted));
  expectEqual('contexts of a page that reached a tool', leaked, []);
}

test('a client token reaches what its permissions name, and nothing else', async (t) => {
  cites(t, 'clients-16-forbidden', 'contract-8-403-token-forbidden');
  cites(t, 'clients-16-can-run', 'clients-16-can-read', 'clients-16-can-upload', 'clients-16-can-files');
  const missing = scale(null, await missingService('postgres'));
  if (missing !== null) return t.skip(missing);
  const env = { RUNWIRE_SECRET: SECRET };
  for (const nodes of scale([null], [null, 2])) {
    await using rig = await (nodes === null ? Rig.scaled({ env }) : Rig.start({ nodes, env }));
    const check = async () => {
      const prepared = await prepare(rig);
      await checkReach(prepared);
      if (scale(false, true)) await checkEnds(prepared);
      if (scale(false, true)) await checkContext(prepared);
      count({ attempts: prepared.stage.attempts });
    };
    await named(nodes === null ? 'embedded' : `${nodes} nodes`, check());
  }
});
