import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makePng } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { attachmentsShown } from './support/attachment-rig.ts';
import { ScriptedServer } from './support/scripted-server.ts';

/* The bytes that bodies of compatible APIs contain. */

// Larger than a body that is parsed on the main thread.
const PNG = makePng(80_000, 1);
const NOTES = Buffer.from('a;b\n'.repeat(30_000));
const png = PNG.toString('base64');
const notes = NOTES.toString('base64');

interface FilesBody {
  readonly path: string;
  readonly body: (id: string) => object;
}

const inputParts = [
  { type: 'input_image', image_url: `data:image/png;base64,${png}` },
  { type: 'input_file', filename: 'notes.csv', file_data: notes },
];
const chatParts = [
  { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
  { type: 'file', file: { filename: 'notes.csv', file_data: `data:text/csv;base64,${notes}` } },
];
const look = { type: 'text', text: 'Look' };

/** A user's message with both files, in each API's own form. */
const APIS: Readonly<Record<string, FilesBody>> = {
  Responses: { path: '/openai/v1/responses', body: () => ({ input: [{ role: 'user', content: inputParts }] }) },
  'Chat Completions': {
    path: '/openai/v1/chat/completions',
    body: () => ({ messages: [{ role: 'user', content: [look, ...chatParts] }] }),
  },
  'AI SDK': {
    path: '/ai-sdk/chat',
    body: (id) => ({
      id,
      messages: [
        {
          ...{ id: 'm', role: 'user' },
          parts: [
            look,
            { type: 'file', mediaType: 'image/png', url: `data:image/png;base64,${png}` },
            { type: 'file', mediaType: 'text/csv', filename: 'notes.csv', url: `data:text/csv;base64,${notes}` },
          ],
        },
      ],
    }),
  },
  'AG-UI': {
    path: '/ag-ui',
    body: (id) => {
      const data = (type: string, mimeType: string, value: string) => ({
        type,
        source: { type: 'data', mimeType, value },
      });
      const content = [look, data('image', 'image/png', png), data('document', 'text/csv', notes)];
      return { threadId: id, runId: id, messages: [{ id: 'm', role: 'user', content }] };
    },
  },
  'agency-swarm': {
    path: '/agency-swarm/get_response',
    body: () => ({ message: [{ role: 'user', content: inputParts }] }),
  },
};

test('bytes in a body are decoded with it, inside the budget of bodies', async (t) => {
  cites(t, 'compatible-19-inline-budget');
  const held: number[] = [];
  await using rig = await ScriptedServer.start({
    waitAt: (point) => {
      if (point === 'admit.before-commit') held.push(rig.server.server.probes.heldBodyBytes());
    },
  });
  const { heldBodyBytes } = rig.server.server.probes;
  const integration = await rig.integration({ agency: 'test' });
  for (const [name, { path, body }] of Object.entries(APIS)) {
    held.length = 0;
    const url = `/v2/integrations/${integration}${path}`;
    const answer = rig.api.call('POST', url, body(name));
    const call = await rig.controller.nextCall();
    await call.text('Seen.');
    await call.end();
    assert.equal((await answer).status, 200, name);
    const [shown = []] = attachmentsShown(call);
    assert.deepEqual(
      shown.map(({ kind }) => kind),
      ['image', 'text'],
      name,
    );
    assert.deepEqual(
      held,
      [PNG.length + NOTES.length],
      `${name}: the budget has the decoded bytes until the admission`,
    );
    assert.equal(heldBodyBytes(), 0, name);
    const wrong = { 'x-runwire-consumer-id': 'x'.repeat(300) };
    const refused = await rig.api.call('POST', url, body(`${name} 2`), wrong);
    assert.deepEqual([refused.status, heldBodyBytes()], [400, 0], `${name}: a refusal releases them`);
  }
  const items = [{ role: 'user', content: inputParts }];
  const made = await rig.api.post(`/v2/integrations/${integration}/openai/v1/conversations`, { items });
  assert.deepEqual([made.status, heldBodyBytes()], [200, 0]);
});
