import type { MessagesRequest } from './messages-rules.ts';

const user = (text: string) => ({ role: 'user', content: [{ type: 'text', text }] });
const assistant = (...content: object[]) => ({ role: 'assistant', content });
const text = { type: 'text', text: 'Hi' };
const thought = { type: 'thinking', thinking: 'Hm.', signature: 'made up' };
const called = (id: string, name = 'clock') => ({ type: 'tool_use', id, name, input: {} });
const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: '12:00' });
const results = (...ids: string[]) => ({ role: 'user', content: ids.map(result) });
const CLOCK = { name: 'clock', description: 'The time.', input_schema: { type: 'object' } };
const BUDGET = {
  model: 'claude-sonnet-4-5',
  max_tokens: 9000,
  thinking: { type: 'enabled', budget_tokens: 2000 },
};

/** A request that breaks no rule. */
export const GOOD_REQUEST = {
  model: 'claude-sonnet-5',
  max_tokens: 100,
  tools: [CLOCK],
  messages: [user('Hi')],
} as MessagesRequest;

/** Requests that are refused, by the rule that refuses them; what differs from `GOOD_REQUEST`. */
const DIFFERENCES: Readonly<Record<string, readonly object[]>> = {
  'max-tokens': [{ max_tokens: undefined }, { max_tokens: 0 }],
  'user-first': [{ messages: [assistant(text), user('Hi')] }],
  'user-last': [{ messages: [user('Hi'), assistant(text)] }],
  'alternating-roles': [{ messages: [user('Hi'), user('Hi')] }],
  'no-empty-message': [{ messages: [user('Hi'), assistant(), user('Hi')] }],
  'no-blank-text': [
    { messages: [user(' \n')] },
    { messages: [user('Hi'), assistant({ ...text, text: '' }), user('Hi')] },
  ],
  'results-complete': [{ messages: [user('Hi'), assistant(called('a'), called('b')), results('a')] }],
  'results-of-calls': [{ messages: [results('a')] }],
  'results-first': [{ messages: [user('Hi'), assistant(called('a')), { role: 'user', content: [text, result('a')] }] }],
  'unique-calls': [{ messages: [user('Hi'), assistant(called('a'), called('a')), results('a')] }],
  'call-names': [
    { messages: [user('Hi'), assistant(called('a', 'a clock')), results('a')] },
    { messages: [user('Hi'), assistant(called('a:0')), results('a:0')] },
  ],
  'declared-tools': [{ tools: [], messages: [user('Hi'), assistant(called('a')), results('a')] }],
  'object-schemas': [{ tools: [{ ...CLOCK, input_schema: { type: 'object', anyOf: [] } }] }],
  'signed-thinking': [{ messages: [user('Hi'), assistant(thought), user('Hi')] }],
  'turn-begins-with-thinking': [{ ...BUDGET, messages: [user('Hi'), assistant(called('a')), results('a')] }],
  'no-blocks-while-off': [
    { thinking: { type: 'disabled' }, messages: [user('Hi'), assistant(thought, called('a')), results('a')] },
    { model: 'claude-sonnet-4-5', messages: [user('Hi'), assistant(thought, called('a')), results('a')] },
  ],
  'no-sampling': [{ temperature: 0.5 }, { ...BUDGET, top_p: 0.5 }],
  budgets: [
    { ...BUDGET, max_tokens: 2000 },
    { ...BUDGET, thinking: { type: 'enabled', budget_tokens: 1000 } },
    { ...BUDGET, model: 'claude-opus-4-7' },
  ],
  adaptive: [{ model: 'claude-sonnet-4-5', thinking: { type: 'adaptive' } }],
  'cannot-stop-thinking': [{ model: 'claude-opus-5-5', thinking: { type: 'disabled' } }],
  'no-forced-calls': [
    { thinking: { type: 'adaptive' }, tool_choice: { type: 'any' } },
    { model: 'claude-opus-5-5', tool_choice: { type: 'tool', name: 'clock' } },
  ],
};

export const REFUSED_REQUESTS: ReadonlyMap<string, readonly MessagesRequest[]> = new Map(
  Object.entries(DIFFERENCES).map(([rule, all]) => [rule, all.map((one) => ({ ...GOOD_REQUEST, ...one }))]),
);

/** Requests with a thinking block that was signed for `asked`. The first is right, the others have a change. */
export function changedThinking(asked: MessagesRequest, signature: string): readonly MessagesRequest[] {
  const block = { type: 'thinking', thinking: 'Hm.', signature };
  const after = (more: object, thinking: object = block) =>
    ({ ...asked, messages: [...asked.messages, assistant(thinking), user('Go on.')], ...more }) as MessagesRequest;
  return [
    after({}),
    after({ model: 'claude-opus-5' }),
    after({ system: 'Be long.' }),
    after({ tools: [] }),
    after({ messages: [user('Ho'), assistant(block), user('Go on.')] }),
    after({ messages: [...asked.messages, assistant(text, block), user('Go on.')] }),
    after({}, { ...block, thinking: 'Hm?' }),
  ];
}
