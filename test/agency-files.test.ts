import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startTestServer } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { AgenciesFolder } from './support/agencies-folder.ts';
import { ScriptedServer } from './support/scripted-server.ts';
import { upload } from './support/uploads.ts';

const YAML = `name: Work
agents:
  - { name: Worker, description: Works., instructions: Work., sandbox: true }
  - { name: Charter, description: Charts., instructions: Chart., skills: [charts] }
  - { name: Plain, description: Talks., instructions: Talk., files: false }
  - name: Member
    description: Works for one.
    instructions: Work.
    sandbox: true
    files: { below: "home/{{member.consumerId}}" }
`;
const skill = (name: string) => `---\nname: ${name}\ndescription: Makes\n  ${name}.\n---\nHow to make ${name}.\n`;

const folder = new AgenciesFolder({
  'work/agency.yaml': YAML,
  'work/files/guide.md': 'The word is here.\n',
  'work/files/deep/er/data.csv': 'a,b\n1,2\n',
  'work/secret.txt': 'The word of the operator.\n',
  'work/skills/charts/SKILL.md': skill('charts'),
  'work/skills/charts/Draw.sh': 'echo drawn\n',
  'work/skills/tables/SKILL.md': skill('tables'),
});
folder.link('work/files/link.txt', '../secret.txt');
folder.link('work/files/outside', '/etc');
after(() => folder[Symbol.dispose]());

const env = { RUNWIRE_AGENCIES_DIR: folder.path, RUNWIRE_SANDBOX: 'auto' };
const rig = ScriptedServer.shared({ env });

/** Calls tools in one run. Resolves to their outputs, and to the agent's instructions. */
async function outputs(body: Parameters<typeof rig.hold>[0], calls: readonly (readonly [string, object])[] = []) {
  const { call: first, reader } = await rig.hold({ message: 'Do it', ...body });
  const { instructions } = first.request;
  let call = first;
  const texts: string[] = [];
  for (const [index, [name, input]] of calls.entries()) {
    await call.toolCall(`call_${index}`, name, JSON.stringify(input));
    await call.end();
    call = await rig.controller.nextCall();
    const last = call.request.prompt.at(-1);
    texts.push(last?.kind === 'tool_output' ? last.output : '');
  }
  await call.end();
  await reader.whole();
  return { texts, instructions };
}

const working = (fields: object = {}) => rig.integration({ agency: 'work', fileAccess: 'all', ...fields });
const CHARTS = '- charts: Makes charts. (/app/agency/skills/charts/SKILL.md)';
const TABLES = '- tables: Makes tables. (/app/agency/skills/tables/SKILL.md)';

test('the instructions name the skills and the folder of the files', async (t) => {
  cites(t, 'agents-10-skills');
  const apiIntegrationId = await working();
  const of = async (agent: string) => (await outputs({ apiIntegrationId, agent })).instructions;
  const skills = 'Skills. Before you use one, read its file, and follow it:';
  const files = 'Files that you can read, and not change, are in /app/agency/files.';
  assert.equal(await of('Worker'), `Work.\n\n${skills}\n${CHARTS}\n${TABLES}\n\n${files}`);
  assert.equal(await of('Charter'), `Chart.\n\n${skills}\n${CHARTS}\n\n${files}`);
  assert.equal(await of('Plain'), 'Talk.');
});

test('the file tools read the files of the agency, and follow no links', async (t) => {
  cites(t, 'agents-10-skills');
  const apiIntegrationId = await working();
  const list = (path: string) => ['list_files', { folder: path }] as const;
  const read = (path: string) => ['read_file', { path }] as const;
  const { texts } = await outputs({ apiIntegrationId, agent: 'Charter' }, [
    list('/app/agency'),
    list('/app/agency/files'),
    list('/app/agency/skills'),
    ['search_files', { text: 'word', folder: '/app/agency' }],
    read('/app/agency/files/guide.md'),
    read('/app/agency/files/deep/er/data.csv'),
    read('/app/agency/skills/charts/SKILL.md'),
    list('/app/mnt'),
  ]);
  const names = (text = '') => text.split('\n').map((line) => line.split(' ')[0]);
  assert.deepEqual(names(texts[0]), ['/app/agency/files', '/app/agency/skills']);
  assert.deepEqual(names(texts[1]), ['/app/agency/files/deep', '/app/agency/files/guide.md']);
  assert.deepEqual(names(texts[2]), ['/app/agency/skills/charts']);
  assert.match(texts[3] ?? '', /^1 matching line, .*\n\/app\/agency\/files\/guide\.md:1: The word is here\.$/);
  assert.match(texts[4] ?? '', /^\/app\/agency\/files\/guide\.md \(text\/markdown, 18 bytes\), line 1 of 1:\nThe word/);
  assert.match(texts[5] ?? '', /data\.csv \(text\/csv.*\n.*\n?1,2/);
  assert.match(texts[6] ?? '', /How to make charts\./);
  assert.equal(texts[7], 'The folder /app/mnt is empty.');
  const hidden = [
    '/app/agency/files/link.txt',
    '/app/agency/files/outside/passwd',
    '/app/agency/secret.txt',
    '/app/agency/agency.yaml',
    '/app/agency/skills/tables/SKILL.md',
  ];
  const refused = await outputs({ apiIntegrationId, agent: 'Charter' }, [
    ...hidden.map(read),
    read('/app/agency/../secret.txt'),
    list('/app/agency/files/outside'),
  ]);
  for (const [index, path] of hidden.entries()) assert.equal(refused.texts[index], `There is no file ${path}.`);
  assert.match(refused.texts.at(-2) ?? '', /must have no `\.` or `\.\.` segment/);
  assert.equal(refused.texts.at(-1), 'There is no folder /app/agency/files/outside.');
});

test('a command reads the files of the agency, and cannot change them', async (t) => {
  cites(t, 'agents-15-agency-files');
  const apiIntegrationId = await working();
  const { texts } = await outputs({ apiIntegrationId, agent: 'Worker' }, [
    ['run_command', { command: 'cd /app/agency; find . -type f | sort; bash skills/charts/Draw.sh' }],
    ['run_command', { command: 'echo x > /app/agency/files/guide.md' }],
    ['run_command', { command: 'cat /proc/self/mountinfo || true' }],
    ['write_file', { path: '/app/agency/files/guide.md', content: 'x' }],
    ['run_command', { command: 'ls', folder: '/app/agency/files' }],
  ]);
  const found = ['./files/deep/er/data.csv', './files/guide.md', './skills/charts/Draw.sh'];
  const rest = ['./skills/charts/SKILL.md', './skills/tables/SKILL.md', 'drawn'];
  assert.equal(texts[0], `Exit code 0.\nNo file was changed.\nOutput:\n${[...found, ...rest].join('\n')}\n`);
  assert.ok(!(texts[1] ?? '').startsWith('Exit code 0.'));
  for (const path of [folder.path, rig.server.dataDir]) assert.ok(!(texts[2] ?? '').includes(path));
  for (const text of texts.slice(3)) assert.match(text, /^The tool failed: \/app\/agency\/files.* is read-only;/);
});

test('`files.below` restricts the file tools and the sandbox', async (t) => {
  cites(t, 'agents-15-files-below', 'agents-15-folder', 'agents-10-files-below');
  const apiIntegrationId = await working();
  for (const name of ['a/b', 'bob']) await rig.member(apiIntegrationId, encodeURIComponent(name));
  const put = (path: string) =>
    upload(rig.api, `word ${path}`, { apiIntegrationId, folder: `/app/mnt/${path}`, filename: 'x' });
  for (const path of ['home/a%2Fb', 'home/bob', 'other']) await put(path);
  const calls = [
    ['list_files', {}],
    ['list_files', { folder: '/app/mnt/home' }],
    ['search_files', { text: 'word' }],
    ['read_file', { path: '/app/mnt/home/bob/x' }],
    ['list_files', { folder: '/app/mnt/other' }],
    ['run_command', { command: 'pwd; ls' }],
    ['run_command', { command: 'ls', folder: '/app/mnt/home' }],
    ['write_file', { path: '/app/mnt/home/bob/x', content: 'y' }],
    ['write_file', { path: '/app/mnt/home/a%2Fb/y', content: 'y' }],
  ] as const;
  const { texts } = await outputs({ apiIntegrationId, agent: 'Member', consumerId: 'a/b' }, calls);
  const home = '/app/mnt/home/a%2Fb';
  assert.equal(texts[0], '/app/mnt/home (folder)');
  assert.equal(texts[1], `${home} (folder)`);
  assert.match(texts[2] ?? '', new RegExp(`^1 matching line, .*\\n${home}/x:1: word`));
  assert.equal(texts[3], 'There is no file /app/mnt/home/bob/x.');
  assert.equal(texts[4], 'There is no folder /app/mnt/other.');
  assert.match(texts[5] ?? '', new RegExp(`Output:\\n${home}\\nx\\n$`));
  assert.equal(texts[6], `The tool failed: You may work only in ${home} and below.`);
  assert.match(texts[7] ?? '', /outside of the folder/);
  assert.equal(texts[8], `${home}/y: created, 1 byte`);
  const none = await outputs({ apiIntegrationId, agent: 'Member' }, calls.slice(0, 6));
  assert.equal(none.texts[0], 'The folder /app/mnt is empty.');
  assert.equal(none.texts[1], 'There is no folder /app/mnt/home.');
  assert.match(none.texts[2] ?? '', /^0 matching lines/);
  assert.match(none.texts[5] ?? '', /There is no folder that you may work in\./);
});

test('`/v2/agencies` shows which agents use the sandbox, and their tools', async () => {
  const { body } = await rig.api.get('/v2/agencies');
  const { agents } = body.items.find(({ agency }: { agency: string }) => agency === 'work');
  const shown = agents.map(({ name, sandbox, tools }: { name: string; sandbox: boolean; tools: readonly string[] }) => [
    name,
    sandbox,
    tools.filter((tool) => ['write_file', 'run_command'].includes(tool)).length,
  ]);
  assert.deepEqual(shown, [
    ['Worker', true, 2],
    ['Charter', false, 0],
    ['Plain', false, 0],
    ['Member', true, 2],
  ]);
});

test('without a sandbox an agency that needs one is broken', async (t) => {
  cites(t, 'agents-15-off');
  await using server = await startTestServer({ env: { ...env, RUNWIRE_SANDBOX: 'off' } });
  const { body } = await server.api.get('/v2/agencies');
  const { error } = body.items.find(({ agency }: { agency: string }) => agency === 'work');
  assert.match(error.message, /^agency\.yaml:3:\d+: `sandbox` needs a sandbox, and this server has none; /);
});

test('a named tool of the sandbox is the only one, also by the name in files of Claude', async (t) => {
  cites(t, 'agents-10-claude-names');
  using named = new AgenciesFolder({
    'work/agency.yaml': 'name: Work\n',
    'work/agents/one.md': '---\nname: One\ntools: Bash\n---\nWork.\n',
  });
  await using server = await startTestServer({ env: { ...env, RUNWIRE_AGENCIES_DIR: named.path } });
  const { body } = await server.api.get('/v2/agencies');
  const { agents } = body.items.find(({ agency }: { agency: string }) => agency === 'work');
  assert.deepEqual([agents[0].tools, agents[0].sandbox], [['run_command'], true]);
});
