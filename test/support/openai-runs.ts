import { SAMPLE_IMAGES } from '@runwire/test-kit/sample-images.ts';
import type OpenAI from 'openai';
import type { Response, ResponseCreateParamsBase } from 'openai/resources/responses/responses';
import { ask, calls, say, type Turn } from './play.ts';

/* Every kind of run, as a request of the Responses API. */

export const thinkingAnd =
  (turn: Turn): Turn =>
  async (call) => {
    await call.reasoning('Let me ');
    await call.reasoning('think.');
    await turn(call);
  };

/** Reasoning, parallel tools, a delegated agent, a failing tool, a hand-off and an answer in several pieces: six steps. */
export const everything: Readonly<Record<string, readonly Turn[]>> = {
  Lead: [
    thinkingAnd(calls(['c1', 'clock', {}], ['c2', 'clock', {}])),
    calls(ask('c3', 'Writer', 'Write it.')),
    calls(['c4', 'breaks', {}]),
    calls(['c5', 'transfer_to_Closer', {}]),
  ],
  Writer: [thinkingAnd(calls(['w1', 'clock', {}])), say('Written.')],
  Closer: [
    async (call) => {
      for (const piece of ['All ', 'is "said"\n', 'and done.']) await call.text(piece);
      await call.end();
    },
  ],
};

const where = {
  type: 'function' as const,
  name: 'where',
  parameters: { type: 'object', properties: { exact: { type: 'boolean' } } },
  strict: false,
};

type Body = Pick<ResponseCreateParamsBase, 'input' | 'tools' | 'conversation'>;

export interface RunKind {
  readonly name: string;
  readonly turns: Readonly<Record<string, readonly Turn[]>>;
  /** Makes the request whose run is looked at; it may start others before. */
  readonly body: (client: OpenAI) => Promise<Body>;
}

/** A small image and a file, as a request of the Responses API has them. */
export const FILE_PARTS = [
  { type: 'input_text' as const, text: 'Look.' },
  {
    type: 'input_image' as const,
    detail: 'low' as const,
    image_url: `data:image/png;base64,${SAMPLE_IMAGES['image/png']}`,
  },
  {
    type: 'input_file' as const,
    filename: 'notes.csv',
    file_data: `data:text/csv;base64,${Buffer.from('a;b\n1;2').toString('base64')}`,
  },
];

/** The client of the run that cancels itself. */
let cancelling: OpenAI | null = null;

const simple = async (): Promise<Body> => ({ input: 'Do it.' });

const first = ({ output }: Response, type: string) => {
  const found = output.find((item) => item.type === type);
  if (found === undefined) throw new Error(`The response has no ${type}.`);
  return found;
};

export const RUN_KINDS: readonly RunKind[] = [
  { name: 'everything', turns: everything, body: simple },
  {
    name: 'failure',
    turns: {
      Lead: [
        calls(['c1', 'clock', {}]),
        async (call) => {
          await call.text('Half');
          await call.fail('model_error', 'The provider broke.');
        },
      ],
    },
    body: simple,
  },
  {
    name: 'images and files',
    turns: { Lead: [calls(['c1', 'clock', {}]), say('Seen.')] },
    body: async () => ({ input: [{ role: 'user', content: FILE_PARTS }] }),
  },
  {
    name: 'cancel',
    turns: {
      Lead: [
        calls(['c1', 'clock', {}]),
        async (call) => {
          await call.text('Half');
          await cancelling?.responses.cancel(call.request.runId.replace('run_', 'resp_'));
        },
      ],
    },
    body: async (client) => {
      cancelling = client;
      return simple();
    },
  },
  {
    name: 'question',
    turns: { Lead: [calls(['c1', 'clock', {}], ['c2', 'where', { exact: true }])] },
    body: async () => ({ input: 'Where?', tools: [where] }),
  },
  {
    name: 'tool round',
    turns: { Lead: [calls(['c1', 'where', { exact: true }]), calls(['c2', 'clock', {}]), say('There.')] },
    body: async (client) => {
      const asked = await client.responses.create({ input: 'Where?', tools: [where] });
      const call = first(asked, 'function_call') as { readonly call_id: string };
      return {
        conversation: asked.conversation?.id ?? null,
        input: [{ type: 'function_call_output', call_id: call.call_id, output: 'Here' }],
        tools: [where],
      };
    },
  },
  {
    name: 'approval round',
    turns: { Lead: [calls(['c1', 'refund', { cents: 5 }]), say('Paid.')] },
    body: async (client) => {
      const asked = await client.responses.create({ input: 'Refund!' });
      const request = first(asked, 'mcp_approval_request') as { readonly id: string };
      return {
        conversation: asked.conversation?.id ?? null,
        input: [{ type: 'mcp_approval_response', approval_request_id: request.id, approve: true }],
      };
    },
  },
];
