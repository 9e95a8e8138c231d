import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { AgenciesFolder } from './support/agencies-folder.ts';
import { listSamples } from './support/doc-samples.ts';
import { ScriptedServer } from './support/scripted-server.ts';

/* The samples of docs/commands.md. */

const page = 'docs/commands.md';

test('the agency of docs/commands.md writes a file, and the stream shows it', async () => {
  const [agency = ''] = listSamples(page, 'yaml');
  const [skill = ''] = listSamples(page, 'markdown');
  using folder = new AgenciesFolder({ 'reports/agency.yaml': agency, 'reports/skills/charts/SKILL.md': skill });
  const env = { RUNWIRE_AGENCIES_DIR: folder.path, RUNWIRE_SANDBOX: 'just-bash' };
  await using rig = await ScriptedServer.start({ env });
  const apiIntegrationId = await rig.integration({ agency: 'reports', fileAccess: 'member' });
  await rig.member(apiIntegrationId, 'ann');
  const { call, reader } = await rig.hold({ apiIntegrationId, consumerId: 'ann', message: 'Write it' });
  assert.match(
    call.request.instructions,
    /\n- charts: Makes charts from tables\. .* \(\/app\/agency\/skills\/charts\/SKILL\.md\)$/,
  );
  const names = call.request.tools.map(({ name }) => name);
  assert.deepEqual(names, ['list_files', 'read_file', 'search_files', 'show_file', 'write_file', 'run_command']);
  await call.toolCall('call_1', 'write_file', '{"path":"/app/mnt/members/ann/r.md","content":"# The report"}');
  await call.end();
  const second = await rig.controller.nextCall();
  await second.toolCall('call_2', 'run_command', '{"command":"cat r.md; rm r.md"}');
  await second.end();
  const third = await rig.controller.nextCall();
  const output = third.request.prompt.at(-1);
  assert.ok(output?.kind === 'tool_output');
  assert.equal(output.output, 'Exit code 0.\n/app/mnt/members/ann/r.md: deleted\nOutput:\n# The report');
  await third.end();
  await reader.whole();
  const shown = /^id: \d+\ndata: (.*"file_changed".*)$/m.exec(readFileSync(page, 'utf8'))?.[1] ?? '';
  const sent = reader.frames.find(({ data }) => data.includes('"name":"file_changed"'));
  assert.deepEqual(JSON.parse(sent?.data ?? ''), JSON.parse(shown));
});
