import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { createOpenAI } from '@ai-sdk/openai';
import { Agent, OpenAIProvider, Runner } from '@openai/agents';
import type { ModelCall } from '@runwire/test-kit';
import { SAMPLE_IMAGES } from '@runwire/test-kit/sample-images.ts';
import { count, scale } from '@runwire/test-kit/scale.ts';
import { expectEqual } from '@runwire/test-kit/shortfall.ts';
import { generateText, streamText } from 'ai';
import type { ResponseStreamEvent } from 'openai/resources/responses/responses';
import { cites } from '../requirements/cite.ts';
import { attachmentsShown } from './support/attachment-rig.ts';
import { Cluster } from './support/cluster.ts';
import { everything, FILE_PARTS, RUN_KINDS } from './support/openai-runs.ts';
import { clientAt, openaiClient, readAll, team } from './support/openai-team.ts';
import { play } from './support/play.ts';
import { ScriptedServer } from './support/scripted-server.ts';
import { missingService } from './support/services.ts';

/* The clients of the OpenAI APIs, unchanged. */

const ANSWER = 'All is "said"\nand done.';

/** Counts the runs of an integration. */
async function countRuns(rig: ScriptedServer, id: string): Promise<number> {
  return (await rig.api.get(`/v2/integrations/${id}/runs`)).body.items.length;
}

test('each client asks once, shows the answer, and executes no tool of the server', async (t) => {
  cites(t, 'compatible-20-responses-server-tools', 'compatible-20-responses-one');
  await using rig = await ScriptedServer.start({ agencies: { team } });
  const ask = async (name: string, answer: (at: Awaited<ReturnType<typeof openaiClient>>) => Promise<unknown>) => {
    const at = await openaiClient(rig);
    play(rig, everything);
    const found = await answer(at).catch((error: unknown) => `${(error as Error).name}: ${(error as Error).message}`);
    expectEqual(`${name}: answer`, found, ANSWER);
    expectEqual(`${name}: runs for one question`, await countRuns(rig, at.id), 1);
    count({ clients: 1 });
  };
  await ask('openai, stream helper', async ({ client }) => {
    const stream = client.responses.stream({ input: 'Hi' });
    return (await stream.finalResponse()).output_text;
  });
  await ask('openai, plain', async ({ client }) => (await client.responses.create({ input: 'Hi' })).output_text);
  for (const isStream of [false, true]) {
    await ask(`@openai/agents, ${isStream ? 'stream' : 'plain'}`, async ({ client }) => {
      const modelProvider = new OpenAIProvider({ openAIClient: client as never, useResponses: true });
      const runner = new Runner({ modelProvider, tracingDisabled: true });
      const agent = new Agent({ name: 'Outside', model: 'Lead' });
      if (!isStream) return (await runner.run(agent, 'Hi')).finalOutput;
      const result = await runner.run(agent, 'Hi', { stream: true });
      for await (const _ of result);
      await result.completed;
      return result.finalOutput;
    });
    await ask(`@ai-sdk/openai, ${isStream ? 'stream' : 'plain'}`, async ({ baseURL, apiKey }) => {
      const model = createOpenAI({ baseURL, apiKey })('Lead');
      return isStream
        ? await streamText({ model, prompt: 'Hi' }).text
        : (await generateText({ model, prompt: 'Hi' })).text;
    });
  }
  const pdf = readFileSync(new URL('../packages/documents/src/fixtures/libreoffice.pdf', import.meta.url));
  const image = `data:image/png;base64,${SAMPLE_IMAGES['image/png']}`;
  const askWithFiles = async (name: string, answer: Parameters<typeof ask>[1]) => {
    const before = rig.controller.calls.length;
    await ask(`${name}, images and files`, answer);
    const shown = attachmentsShown(rig.controller.calls[before] as ModelCall).flat();
    expectEqual(`${name}: attachments`, shown.map(({ kind }) => kind).toSorted(), ['image', 'text']);
  };
  await askWithFiles('openai', async ({ client }) => {
    return (await client.responses.create({ input: [{ role: 'user', content: FILE_PARTS }] })).output_text;
  });
  await askWithFiles('@openai/agents', async ({ client }) => {
    const modelProvider = new OpenAIProvider({ openAIClient: client as never, useResponses: true });
    const content = [
      { type: 'input_text' as const, text: 'Look.' },
      { type: 'input_image' as const, image },
      { type: 'input_file' as const, filename: 'a.pdf', file: `data:application/pdf;base64,${pdf.toString('base64')}` },
    ];
    const agent = new Agent({ name: 'Outside', model: 'Lead' });
    const runner = new Runner({ modelProvider, tracingDisabled: true });
    return (await runner.run(agent, [{ role: 'user', content }])).finalOutput;
  });
  await askWithFiles('@ai-sdk/openai', async ({ baseURL, apiKey }) => {
    const model = createOpenAI({ baseURL, apiKey })('Lead');
    const content = [
      { type: 'text' as const, text: 'Look.' },
      { type: 'file' as const, mediaType: 'image/png', data: SAMPLE_IMAGES['image/png'] },
      { type: 'file' as const, mediaType: 'application/pdf', filename: 'a.pdf', data: pdf },
    ];
    return (await generateText({ model, messages: [{ role: 'user', content }] })).text;
  });
});

const skip = (await missingService('postgres')) ?? false;

test('a stream that is cut at any event continues on another node', { skip }, async (t) => {
  cites(t, 'compatible-20-responses-resume', 'compatible-20-responses-numbers');
  await using cluster = await Cluster.start(2, { agencies: { team } });
  const [here, there] = [cluster.node(0), cluster.node(1)];
  let cuts = 0;
  for (const { name, turns, body } of RUN_KINDS) {
    const { client, apiKey, id } = await openaiClient(here, { clientTools: true });
    const elsewhere = clientAt(`${there.server.url}/v2/integrations/${id}/openai/v1`, apiKey);
    let events = Number.POSITIVE_INFINITY;
    for (let cut = 2; cut < events; cut += scale(9, 1)) {
      play(here, turns);
      const stream = await client.responses.create({ ...(await body(client)), stream: true });
      const read: ResponseStreamEvent[] = [];
      for await (const event of stream) {
        read.push(event);
        if (read.length === cut) break;
      }
      const [created] = read;
      const responseId = created?.type === 'response.created' ? created.response.id : '';
      const after = { stream: true, starting_after: read.at(-1)?.sequence_number ?? 0 } as const;
      for await (const event of await elsewhere.responses.retrieve(responseId, after)) read.push(event);
      const whole = await readAll(await client.responses.retrieve(responseId, { stream: true }));
      expectEqual(`${name}, cut after event ${cut}: events`, read, whole.events);
      const stored = await elsewhere.responses.retrieve(responseId);
      const { output_text: _, ...object } = stored as typeof stored & { output_text?: string };
      expectEqual(`${name}, cut after event ${cut}: the stored response`, object, whole.response);
      events = whole.events.length;
      cuts += 1;
    }
  }
  count({ cuts, kinds: RUN_KINDS.length });
});
