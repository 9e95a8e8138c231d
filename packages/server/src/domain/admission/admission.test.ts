import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pathInMount } from '@runwire/test-kit/test-files.ts';
import { testChatId, testChatKey, testRunId } from '@runwire/test-kit/test-ids.ts';
import { Refusal } from '../refusal.ts';
import { NO_EXTRAS } from '../run/run-extras.ts';
import {
  type AdmissionAgency,
  type AdmissionFactsRow,
  type AdmissionQuestion,
  type AdmissionRequest,
  type AdmissionSetting,
  decideAdmission,
  missingFileRefusal,
} from './admission.ts';
import { OWN_CHAT_RULES } from './chat-rules.ts';

const NOW = Date.parse('2030-01-15T12:00:00Z');

/** An integration with allowances, an active member and an idle chat: the request is admitted. */
const goodFacts: AdmissionFactsRow = {
  agency: 'demo',
  default_agent: 'Concierge',
  text_only: 0,
  allowance_unit: 'tokens',
  allowance_limit: 100,
  allowance_period: 'month',
  max_runs_per_member: 2,
  max_run_seconds: 0,
  on_disconnect: 'continue',
  keep_attachments: 1,
  integration_model: null,
  file_access: 'chat',
  member_folder: '/app/mnt/members/{consumerId}',
  client_tools: 0,
  caller_instructions: 0,
  auto_register: 0,
  member_active: 1,
  member_limit: null,
  known_run_id: null,
  has_erased_runs: 0,
  known_fingerprint: null,
  known_consumer_id: null,
  known_chat_id: null,
  known_alias: null,
  known_chat_deleted_at: null,
  known_former_chat_id: null,
  known_former_alias: null,
  chat_key: testChatKey('chat_1'),
  chat_alias: null,
  chat_consumer_id: 'ann',
  chat_num_messages: 2,
  chat_text_bytes: 10,
  chat_questions_json: null,
  alias_chat_key: null,
  alias_chat_id: null,
  alias_consumer_id: null,
  busy_run_id: null,
  busy_usage_request_id: null,
  files_without_copy: 0,
  used: 0,
  reserved: 0,
  member_active_runs: 0,
};

const goodRequest: AdmissionRequest = {
  consumerId: 'ann',
  usageRequestId: 'u1',
  chatId: testChatId('c1'),
  member: null,
  aliasChatId: null,
  agent: null,
  messageBytes: 5,
  fingerprint: 'print',
  sandboxFiles: [],
  answers: null,
  clientTools: [],
  refreshes: [],
  history: [],
  extras: NO_EXTRAS,
  chatRules: OWN_CHAT_RULES,
};

interface Situation {
  facts?: Partial<AdmissionFactsRow>;
  request?: Partial<AdmissionRequest>;
  agencyExists?: boolean;
  agencyBroken?: boolean;
  shuttingDown?: boolean;
  full?: boolean;
  /** The answers to the questions. */
  files?: Refusal;
  links?: Refusal;
}

const entryPoints = ({ agencyBroken, agencyExists }: Situation) => {
  if (agencyBroken === true) return 'broken';
  return agencyExists === false ? null : ['Concierge'];
};

const agencyIn = (situation: Situation): AdmissionAgency => ({
  entryPoints: entryPoints(situation),
  toolNames: () => new Set(['count']),
  hasLasting: false,
  hasOutput: () => false,
  price: (agent) => (agent === 'Concierge' ? { input: 3_000_000_000, cachedInput: 0, output: 0 } : null),
});

const settingIn = (situation: Situation): AdmissionSetting => ({
  nowMs: NOW,
  reserveTokens: 1000,
  forks: false,
  load: () => ({ shuttingDown: situation.shuttingDown ?? false, full: situation.full ?? false }),
});

/** Decides, and answers the questions from the situation. Adds each question to `asked`. */
function decide(situation: Situation = {}, asked: AdmissionQuestion[] = []) {
  const facts = { ...goodFacts, ...situation.facts };
  const request = { ...goodRequest, ...situation.request };
  const deciding = decideAdmission(facts, agencyIn(situation), request, settingIn(situation));
  let step = deciding.next();
  while (step.done !== true) {
    asked.push(step.value);
    step = deciding.next((step.value.ask === 'files' ? situation.files : situation.links) ?? null);
  }
  return step.value;
}

const getQuestions = (situation: Situation) => {
  const asked: AdmissionQuestion[] = [];
  decide(situation, asked);
  return asked;
};

function refusedWith(situation: Situation) {
  const decision = decide(situation);
  assert.equal(decision.kind, 'refuse', JSON.stringify(decision));
  return decision.refusal;
}

const refresh = { urlKey: 'https://a.example/b', url: 'https://a.example/b?c' };

/** What can be wrong, in the order of the checks. */
const order: readonly (readonly [string, Situation])[] = [
  ['missing_allowance_attribution', { request: { usageRequestId: null } }],
  ['usage_request_id_reused', { facts: { known_run_id: testRunId('run_1'), known_fingerprint: 'another' } }],
  ['member_not_found', { facts: { member_active: null } }],
  ['consumer_inactive', { facts: { member_active: 0 } }],
  ['chat_not_found', { facts: { chat_consumer_id: 'bob' } }],
  [
    'invalid_request',
    { facts: { alias_chat_key: testChatKey('chat_2'), alias_consumer_id: 'ann' }, request: { aliasChatId: 'a' } },
  ],
  ['unknown_agency', { agencyExists: false }],
  ['unknown_agent', { request: { agent: 'Nobody' } }],
  [
    'sandbox_file_not_found',
    {
      request: { sandboxFiles: [{ below: pathInMount('u/a.txt') }] },
      files: missingFileRefusal(pathInMount('u/a.txt')),
    },
  ],
  [
    'invalid_attachment_refresh',
    { facts: { files_without_copy: 1 }, links: new Refusal('invalid_attachment_refresh') },
  ],
  ['shutting_down', { shuttingDown: true }],
  ['unavailable', { full: true }],
  ['run_active', { facts: { busy_run_id: testRunId('run_2'), busy_usage_request_id: 'u2' } }],
  ['consumer_allowance_exhausted', { facts: { used: 100 } }],
  ['too_many_runs', { facts: { member_active_runs: 2 } }],
];

test('admits a request without fault', () => {
  assert.deepEqual(decide(), {
    kind: 'admit',
    agency: 'demo',
    agent: 'Concierge',
    begins: null,
    readsLasting: false,
    textOnly: false,
    maxRunSeconds: null,
    model: null,
    onDisconnect: 'continue',
    keepAttachments: true,
    files: { access: 'chat', memberFolder: null },
    chat: {
      chatKey: testChatKey('chat_1'),
      chatId: testChatId('c1'),
      alias: null,
      knownAlias: null,
      numMessages: 2,
      textBytes: 10,
      questionsJson: null,
    },
    continuation: null,
    hasHistory: true,
    registersMember: false,
    held: 1004,
    unit: 'tokens',
    period: 'month',
    periodStart: Date.parse('2030-01-01T00:00:00Z'),
  });
  const own = decide({ facts: { max_run_seconds: 60, on_disconnect: 'cancel' } });
  assert.ok(own.kind === 'admit');
  assert.deepEqual([own.maxRunSeconds, own.onDisconnect], [60, 'cancel']);
  const priced = decide({ facts: { allowance_unit: 'credits' } });
  assert.equal(priced.kind === 'admit' && priced.held, 4, '1004 tokens at the price of the default agent');
});

test('refuses each fault with its own code', () => {
  for (const [code, fault] of order) assert.equal(refusedWith(fault).code, code);
});

test('refuses a broken agency without a check of the agent, between shutdown and load', () => {
  const getCode = (situation: Situation) => {
    const decision = decide({ ...situation, agencyBroken: true });
    return decision.kind === 'refuse' ? decision.refusal.code : decision.kind;
  };
  assert.equal(getCode({ request: { agent: 'Nobody' }, full: true }), 'agency_unavailable');
  assert.equal(getCode({ shuttingDown: true }), 'shutting_down');
  assert.equal(getCode({ facts: { busy_run_id: testRunId('run_2') } }), 'agency_unavailable');
});

test('the earlier of two faults in the order wins', () => {
  for (const [index, [code, fault]] of order.entries()) {
    for (const [later, other] of order.slice(index + 1)) {
      // If both faults set the same fact, the earlier one sets it.
      const facts = { ...other.facts, ...fault.facts };
      const request = { ...other.request, ...fault.request };
      assert.equal(refusedWith({ ...other, ...fault, facts, request }).code, code, `${code} before ${later}`);
    }
  }
});

test('asks for sandbox files after all earlier checks have passed', () => {
  const index = order.findIndex(([code]) => code === 'sandbox_file_not_found');
  const within = (fault: Situation): Situation => ({
    ...fault,
    request: { ...fault.request, sandboxFiles: [{ below: pathInMount('u/a.txt') }] },
  });
  for (const [code, fault] of order.slice(0, index)) assert.deepEqual(getQuestions(within(fault)), [], code);
  for (const [code, fault] of order.slice(index + 1)) {
    assert.deepEqual(getQuestions(within(fault))[0], { ask: 'files' }, `before ${code}`);
    assert.equal(refusedWith(within(fault)).code, code);
  }
  assert.equal(decide(within({})).kind, 'admit');
  assert.match(missingFileRefusal(pathInMount('u/a b.txt')).message, /`\/app\/mnt\/u\/a b\.txt` was not uploaded/);
});

test('asks for links of earlier attachments if request or chat has a reason', () => {
  const index = order.findIndex(([code]) => code === 'invalid_attachment_refresh');
  for (const reason of [{ request: { refreshes: [refresh] } }, { facts: { files_without_copy: 1 } }] as const) {
    const within = (fault: Situation): Situation => ({
      ...fault,
      facts: { ...fault.facts, ...reason.facts },
      request: { ...fault.request, ...reason.request },
    });
    const asksLinks = (situation: Situation) => getQuestions(situation).some(({ ask }) => ask === 'refreshes');
    for (const [code, fault] of order.slice(0, index)) assert.equal(asksLinks(within(fault)), false, code);
    for (const [code, fault] of order.slice(index + 1)) {
      assert.deepEqual(
        getQuestions(within(fault)),
        [{ ask: 'refreshes', chatKey: testChatKey('chat_1') }],
        `before ${code}`,
      );
      assert.equal(refusedWith(within(fault)).code, code);
    }
    assert.equal(decide(within({})).kind, 'admit');
  }
  assert.deepEqual(getQuestions({}), []);
  const none = { chat_key: null, chat_consumer_id: null };
  assert.deepEqual(getQuestions({ facts: none, request: { refreshes: [refresh] } }), [
    { ask: 'refreshes', chatKey: null },
  ]);
  // A refusal of their text needs no question.
  const refusal = new Refusal('invalid_attachment_refresh', 'no');
  assert.equal(refusedWith({ request: { refreshes: refusal } }), refusal);
  assert.deepEqual(getQuestions({ request: { refreshes: refusal } }), []);
});

test('replays a known usage request id before any later check', () => {
  const known = {
    known_run_id: testRunId('run_1'),
    known_fingerprint: 'print',
    known_chat_id: testChatId('c1'),
  };
  const replay = { kind: 'replay', runId: testRunId('run_1'), chatId: testChatId('c1'), textOnly: false };
  assert.deepEqual(decide({ facts: known }), replay);
  for (const [code, fault] of order.slice(2)) {
    // Another agent or alias is another body, but a replay needs the body that was admitted.
    if (fault.request?.agent !== undefined || fault.request?.aliasChatId !== undefined) continue;
    const situation = { ...fault, facts: { ...fault.facts, ...known } };
    assert.deepEqual(decide(situation), replay, `before ${code}`);
    assert.deepEqual(getQuestions(situation), [], 'and nothing is asked');
  }
  const gone = { known_chat_deleted_at: 1 };
  for (const different of [
    { facts: { ...known, ...gone } },
    { facts: { ...known, known_fingerprint: 'another' } },
    { facts: known, request: { chatId: testChatId('another') } },
    { facts: known, request: { aliasChatId: 'another' } },
  ]) {
    const refusal = refusedWith(different);
    assert.equal(refusal.code, 'usage_request_id_reused');
    assert.deepEqual(refusal.details, { runId: testRunId('run_1') });
  }
  assert.deepEqual(decide({ facts: known, request: { chatId: null } }), replay);
  assert.deepEqual(decide({ facts: { ...known, known_alias: 'a' }, request: { aliasChatId: 'a' } }), replay);
});

test('without allowances only a named member must exist and be active', () => {
  const off = { allowance_unit: null, allowance_limit: null, allowance_period: null };
  const nobody = { consumerId: null, usageRequestId: null, chatId: null };
  const noChat = { chat_key: null, chat_consumer_id: null, member_active: null };
  const decision = decide({ facts: { ...off, ...noChat }, request: nobody });
  assert.equal(decision.kind, 'admit');
  assert.equal(decision.held, 0);
  assert.equal(decision.periodStart, null);
  assert.equal(refusedWith({ facts: { ...off, member_active: null } }).code, 'member_not_found');
  assert.equal(refusedWith({ facts: { ...off, member_active: 0 } }).code, 'consumer_inactive');
});

test('binds an alias to a chat without one, and never confuses two chats', () => {
  const admitted = (situation: Situation) => {
    const decision = decide(situation);
    assert.equal(decision.kind, 'admit', JSON.stringify(decision));
    return decision.chat;
  };
  const none = { chat_key: null, chat_consumer_id: null };
  assert.equal(admitted({ facts: none }), null, 'an unknown chat is made');
  assert.equal(admitted({ facts: none, request: { chatId: null, aliasChatId: 'a' } }), null);
  assert.equal(admitted({ request: { aliasChatId: 'a' } })?.alias, 'a', 'known chat, unknown alias');
  const other = { chat_alias: 'b' };
  assert.equal(refusedWith({ facts: other, request: { aliasChatId: 'a' } }).code, 'invalid_request');
  const byAlias = {
    ...none,
    alias_chat_key: testChatKey('chat_2'),
    alias_chat_id: testChatId('c2'),
    alias_consumer_id: 'ann',
  };
  assert.equal(refusedWith({ facts: byAlias, request: { aliasChatId: 'a' } }).code, 'invalid_request');
  const found = admitted({ facts: byAlias, request: { chatId: null, aliasChatId: 'a' } });
  assert.deepEqual([found?.chatKey, found?.chatId, found?.alias], ['chat_2', 'c2', null]);
  const both = { chat_alias: 'a', alias_chat_key: testChatKey('chat_1'), alias_consumer_id: 'ann' };
  assert.equal(admitted({ facts: both, request: { aliasChatId: 'a' } })?.alias, null);
  const foreign = { ...byAlias, alias_consumer_id: null };
  assert.equal(refusedWith({ facts: foreign, request: { chatId: null, aliasChatId: 'a' } }).code, 'chat_not_found');
});

test('an exhausted allowance has the right Retry-After and resetAt', () => {
  const spent = refusedWith({ facts: { used: 100 } });
  assert.deepEqual(spent.details, { resetAt: '2030-02-01T00:00:00.000Z' });
  assert.equal(spent.retryAfterSeconds, (Date.parse('2030-02-01T00:00:00Z') - NOW) / 1000);
  const held = refusedWith({ facts: { used: 50, reserved: 50 } });
  assert.equal(held.retryAfterSeconds, 1);
  const lifetime = refusedWith({ facts: { used: 100, allowance_period: 'lifetime' } });
  assert.deepEqual([lifetime.details, lifetime.retryAfterSeconds], [{ resetAt: null }, null]);
  const heldForLife = refusedWith({ facts: { used: 1, reserved: 99, allowance_period: 'lifetime' } });
  assert.equal(heldForLife.retryAfterSeconds, 1);
});

test("a member's own limit replaces the integration's, higher or lower", () => {
  assert.equal(refusedWith({ facts: { member_limit: 10, used: 10 } }).code, 'consumer_allowance_exhausted');
  assert.equal(refusedWith({ facts: { member_limit: 0 } }).code, 'consumer_allowance_exhausted');
  assert.equal(decide({ facts: { member_limit: 200, used: 150 } }).kind, 'admit');
});
