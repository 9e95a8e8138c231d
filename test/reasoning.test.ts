import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defineAgency, defineAgent, type Reasoning } from '@runwire/agency';
import { FakeProvider, type Protocol, providerEvents, sseText, startTestServer } from '@runwire/test-kit';
import { clock } from '../packages/server/src/agencies/demo-tools/clock.ts';
import { cites } from '../requirements/cite.ts';

const PROTOCOLS: readonly Protocol[] = ['responses', 'chat'];

const thinking = (reasoning: Reasoning) => ({
  thinking: defineAgency({
    name: 'Thinking',
    agents: [
      defineAgent({ name: 'Thinker', description: 'Thinks.', instructions: 'Think.', tools: [clock], reasoning }),
    ],
  }),
});

for (const protocol of PROTOCOLS) {
  test(`${protocol}: the reasoning of each step reaches the stream`, async (t) => {
    cites(t, 'contract-5-raw-reasoning');
    await using provider = await FakeProvider.start();
    const env = {
      OPENAI_API_KEY: 'sk-1',
      OPENAI_BASE_URL: provider.baseUrl,
      RUNWIRE_MODEL: 'openai/m',
      RUNWIRE_OPENAI_API: protocol,
    };
    const agencies = thinking({ effort: 'low', summary: 'concise' });
    await using server = await startTestServer({ env, agencies });
    await server.api.post('/v2/integrations', { apiIntegrationId: 'thinking', agency: 'thinking' });
    const answering = server.api.complete({ apiIntegrationId: 'thinking' });
    const said = [
      [
        { kind: 'reasoning', deltas: ['The clock', ' knows.'] },
        { kind: 'calls', calls: [['call_1', 'clock', '{}']] },
      ],
      [
        { kind: 'reasoning', deltas: ['Now I know.'] },
        { kind: 'text', deltas: ['Noon.'] },
      ],
    ] as const;
    for (const [step, parts] of said.entries()) {
      const call = await provider.nextCall();
      assert.deepEqual(
        [call.body.reasoning, call.body.reasoning_effort],
        protocol === 'chat' ? [undefined, 'low'] : [{ effort: 'low', summary: 'concise' }, undefined],
      );
      if (step === 1) {
        // Reasoning is not part of the next step, and no item refers to it by an id.
        const shown: readonly Readonly<Record<string, unknown>>[] = call.body.input ?? call.body.messages;
        assert.ok(!JSON.stringify(shown).includes('knows'));
        for (const item of shown) assert.ok(item.type !== 'reasoning' && item.id === undefined);
      }
      await call.stream(sseText(providerEvents(protocol, { parts })));
    }
    const reader = await answering;
    const frames = await reader.whole();
    const raw = frames
      .filter(({ event }) => event === null)
      .map(({ data }) => JSON.parse(data).data?.data)
      .filter((event) => event?.type?.startsWith('response.reasoning_summary_text.'));
    assert.deepEqual(
      raw.map(({ type, delta, text }) => [type.split('.').at(-1), delta ?? text]),
      [
        ['delta', 'The clock'],
        ['delta', ' knows.'],
        ['done', 'The clock knows.'],
        ['delta', 'Now I know.'],
        ['done', 'Now I know.'],
      ],
    );
    assert.equal(reader.answer, 'Noon.');
  });
}

test('an unknown reasoning setting of an agent refuses the start', async () => {
  const where = 'In agent `Thinker` of agency `thinking`:';
  for (const [reasoning, sentence] of [
    ['low', `${where} \`reasoning\` must be an object with fields, not text.`],
    [null, `${where} \`reasoning\` has no value; write an object with fields.`],
    [
      { effort: 'huge' },
      `${where} \`effort\` is \`huge\`; write \`none\`, \`minimal\`, \`low\`, \`medium\`, \`high\`, \`xhigh\` or \`max\`.`,
    ],
    [{ summary: true }, `${where} \`summary\` must be \`auto\`, \`concise\` or \`detailed\`, not \`true\`.`],
    [{ budget: 5 }, `${where} \`budget\` is not a field of \`reasoning\`; its fields are effort, summary.`],
  ] as const) {
    const agencies = thinking(reasoning as Reasoning);
    await assert.rejects(startTestServer({ agencies }), { name: 'StartRefused', message: sentence });
  }
});
