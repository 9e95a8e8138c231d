import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { defineAgency, defineAgent, defineTool } from '@runwire/agency';
import { type ModelCall, TEST_API_KEY } from '@runwire/test-kit';
import { listSamples, run } from './support/doc-samples.ts';
import { PYTHON_ENV } from './support/python.ts';
import { ScriptedServer } from './support/scripted-server.ts';
import { missingService, PYTHON } from './support/services.ts';

const inputSchema = { type: 'object' } as const;
const position = defineTool({ name: 'position', description: 'Tells where the user is.', inputSchema });
const refund = defineTool({
  ...{ name: 'refund', description: 'Pays money back.', inputSchema, needsApproval: true },
  execute: (_, { approval }) => `refunded, ${approval?.reason}`,
});
const shop = defineAgency({
  name: 'Shop',
  agents: [
    defineAgent({
      name: 'Lead',
      description: 'Leads.',
      instructions: 'Help.',
      files: false,
      tools: [position, refund],
    }),
  ],
});

/** The samples' model: it asks its questions, counts until it is cancelled, or repeats the message. */
async function speak(call: ModelCall): Promise<void> {
  const { prompt } = call.request;
  const asked = prompt.findLast((item) => item.kind === 'user')?.text ?? '';
  const outputs = prompt.flatMap((item) => (item.kind === 'tool_output' ? [item.output] : []));
  if (asked.startsWith('Where am I?') && outputs.length === 0) {
    await call.toolCall('a', 'position', '{}');
    await call.toolCall('b', 'refund', '{"cents":500}');
  } else await call.text(`You said: ${asked} ${outputs.join(' ')}\n`);
  if (!asked.startsWith('Count')) await call.end();
}

test('the guide for Python works as pasted', { skip: (await missingService('python')) ?? false }, async (t) => {
  await using rig = await ScriptedServer.start({ agencies: { shop } });
  rig.controller.onCall = (call) => void speak(call);
  await rig.api.patch('/v2/integrations/demo', { agency: 'shop' });
  await rig.member('demo', 'user-42');
  const folder = getFolder(t);
  writeFileSync(join(folder, 'brief.txt'), 'Buy milk.');
  const pages = ['docs/client-python.md', 'packages/client-python/README.md'];
  const samples = pages.flatMap((page) => listSamples(page, 'python'));
  const script = samples
    .join('\n')
    .replaceAll('http://127.0.0.1:8787', rig.server.url)
    .replaceAll('<your key>', TEST_API_KEY);
  const { stdout } = await run(PYTHON, ['-c', script], { cwd: folder, env: PYTHON_ENV, timeout: 60_000 });
  const lines = stdout.split('\n').filter((line) => line !== '');
  const [hello = '', story = '', usage = '', attached, cancelled, end, answered = '', ...more] = lines;
  const [fromTask = '', one = '', two = '', member, page, header = '', sent, brief = '', again] = more;
  assert.match(hello, /^You said: Hello/);
  assert.match(story, /^You said: Tell me a story\./);
  assert.match(usage, /'request_count': 1/);
  assert.equal(attached, story);
  assert.deepEqual([cancelled, end], ['cancelled', 'cancelled']);
  assert.match(answered, /"city":"Rome".*refunded, small amounts are approved/);
  assert.match(fromTask, /^You said: Hello from asyncio/);
  assert.match(one, /^You said: One/);
  assert.match(two, /^You said: Two/);
  assert.equal(member, 'user-42 Ann');
  assert.match(page ?? '', /^\d+ (None|\S+)$/);
  assert.match(header, /usageRequestId/);
  assert.equal(sent, '9 of 9 bytes');
  assert.match(brief, /^You said: Summarise the brief\./);
  assert.equal(again, hello);
  assert.equal(lines.at(-1), hello, 'the sample of packages/client-python/README.md');
});

function getFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'runwire-python-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
