import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { messagesBody } from './messages-body.ts';
import type { ModelRequest, PromptItem } from './model.ts';
import { chatBody, chatDialect } from './openai-chat.ts';
import { responsesBody } from './openai-responses.ts';
import type { PromptAttachment } from './prompt-attachment.ts';
import { BodyPrefixes, type RequestBody } from './request-body.ts';
import { modelRequest } from './testing/model-conformance.ts';

const prefixes = new BodyPrefixes();
const bodies: Readonly<Record<string, (request: ModelRequest) => RequestBody>> = {
  responses: (request) => responsesBody('m', request, prefixes),
  chat: (request) => chatBody('m', request, chatDialect('openai'), prefixes),
  mistral: (request) => chatBody('m', request, chatDialect('mistral'), prefixes),
  messages: (request) => messagesBody('claude-m', request, { replays: new Map(), paused: [], traits: {}, prefixes }),
};
const tools = [{ name: 'echo', description: 'Echoes.', inputSchema: { type: 'object' } }];
const IMAGE: PromptAttachment = {
  ...{ kind: 'image', name: null, mediaType: 'image/png', sizeBytes: 3, detail: 'auto' },
  read: async () => Buffer.from('abc'),
};
/** Copies of items were never written before. */
const copies = (items: readonly PromptItem[]) => items.map((item) => ({ ...item }));
const requestFor = (prompt: readonly PromptItem[], earlierItems: number): ModelRequest => ({
  ...modelRequest('', { prompt, tools, instructions: 'Be brief.' }),
  earlierItems,
});

for (const [protocol, make] of Object.entries(bodies)) {
  const send = async (prompt: readonly PromptItem[], earlierItems: number) => {
    const body = make(requestFor(prompt, earlierItems));
    const bytes = Buffer.isBuffer(body) ? body : Buffer.concat(await Array.fromAsync(body.pieces()));
    assert.equal(bytes.length, body.length);
    return bytes.toString();
  };

  test(`${protocol}: remembered turns give the bytes of new ones`, async () => {
    const text = fc.constantFrom('', ' ', 'Größe? "1"', '😀', 'x'.repeat(200));
    const turn = fc.record({ text, answer: fc.option(text), calls: fc.nat(2), attached: fc.nat(7), left: fc.nat(9) });
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { minLength: 2, maxLength: 8 }), async (turns) => {
        let earlier: PromptItem[] = [];
        for (const [index, { text, answer, calls, attached, left }] of turns.entries()) {
          const prompt: readonly PromptItem[] = [...earlier, { kind: 'user', text: `${index}` }];
          const expected = await send(copies(prompt), 0);
          assert.equal(await send(prompt, earlier.length), expected);
          // The second step of a run has the same earlier turns.
          assert.equal(await send(prompt, earlier.length), expected);
          earlier.push({ kind: 'user', text, ...(attached === 0 ? { attachments: [IMAGE] } : {}) });
          for (let call = 0; call < calls; call += 1) {
            const callId = `c${index}-${call}`;
            if (answer !== null) earlier.push({ kind: 'assistant', text: answer });
            earlier.push({ kind: 'tool_call', callId, name: 'echo', arguments: '{"a":1}' });
            earlier.push({ kind: 'tool_output', callId, output: text });
          }
          if (answer !== null) earlier.push({ kind: 'assistant', text: answer });
          // The window moves, or turns were read again.
          if (left === 0) earlier = earlier.slice(earlier.findIndex(({ kind }, at) => at > 0 && kind === 'user'));
          if (left === 1)
            earlier = earlier.map((item, at) => (at > 0 && 'text' in item ? { ...item, text: 'New.' } : item));
        }
      }),
      { numRuns: 60 },
    );
  });

  test(`${protocol}: an earlier turn is written once`, async () => {
    let reads = 0;
    const counted = (kind: 'user' | 'assistant', value: string): PromptItem => ({
      kind,
      get text() {
        reads += 1;
        return value;
      },
    });
    const earlier = ['One?', 'Two?'].flatMap((text) => [counted('user', text), counted('assistant', 'Yes.')]);
    const first = await send([...earlier, { kind: 'user', text: 'Now?' }], 4);
    assert.ok(reads >= 4);
    reads = 0;
    assert.equal(await send([...earlier, { kind: 'user', text: 'Now!' }], 4), first.replace('Now?', 'Now!'));
    // The Messages protocol looks at the end of the last turn.
    assert.ok(reads <= 1);
  });
}

test('messages: a conversation that begins with the assistant gets a message of the user first', async () => {
  const greeting: PromptItem = { kind: 'assistant', text: 'Welcome!' };
  const options = { replays: new Map(), paused: [], traits: {}, prefixes: new BodyPrefixes() };
  const toText = async (prompt: readonly PromptItem[], earlierItems: number) => {
    const body = messagesBody('claude-m', requestFor(prompt, earlierItems), options);
    return (Buffer.isBuffer(body) ? body : Buffer.concat(await Array.fromAsync(body.pieces()))).toString();
  };
  const text = await toText([greeting, { kind: 'user', text: 'Hi' }], 1);
  const roles = (JSON.parse(text).messages as { role: string }[]).map(({ role }) => role);
  assert.deepEqual(roles, ['user', 'assistant', 'user']);
  const later: readonly PromptItem[] = [greeting, { kind: 'user', text: 'Hi' }, { kind: 'assistant', text: 'Yes?' }];
  const next: readonly PromptItem[] = [...later, { kind: 'user', text: 'So?' }];
  assert.equal(await toText(next, 3), await toText(copies(next), 0), 'remembered turns give the same bytes');
});
