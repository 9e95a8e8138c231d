import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { defineAgency, defineAgent, delegate } from '@runwire/agency';
import { fullTest, STORES, type StoreName } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { askStore } from './support/ask-store.ts';
import { messagesFrame, ScriptedServer } from './support/scripted-server.ts';
import { missingBubblewrap } from './support/services.ts';
import { stagesDeleted } from './support/stages.ts';
import { download, signing, upload } from './support/uploads.ts';

const missing = await missingBubblewrap();
const worker = defineAgent({ name: 'Worker', description: 'Works.', instructions: 'Work.', sandbox: true });
const lead = defineAgent({ name: 'Lead', description: 'Leads.', instructions: 'Lead.' });
const speaker = defineAgent({ name: 'Speaker', description: 'Speaks.', instructions: 'Speak.' });
const agencies = {
  work: defineAgency({ name: 'Work', agents: [worker] }),
  team: defineAgency({
    name: 'Team',
    agents: [lead, worker, speaker],
    flows: [delegate(lead, worker), delegate(lead, speaker)],
  }),
};

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  const env = { RUNWIRE_SANDBOX: 'auto', RUNWIRE_MOUNT_QUOTA_BYTES: '2000' };
  let reached = (_point: string) => {};
  const rig = ScriptedServer.shared({ store, agencies, env, waitAt: (point) => reached(point) });

  /** Resolves when a command has its files. */
  const staged = () =>
    new Promise<void>((resolve) => {
      reached = (point) => {
        if (point === 'command-run.before') resolve();
      };
    });

  const working = (fields: object = {}) => rig.integration({ agency: 'work', fileAccess: 'all', ...fields });
  const run = (command: string, more: object = {}) => ['run_command', { command, ...more }] as const;
  const write = (path: string, content: string) => ['write_file', { path, content }] as const;

  const toText = async (integration: string, path: string) => {
    const answer = await download(rig.api, path, integration);
    return answer.status === 200 ? await answer.text() : answer.status;
  };

  /** Calls tools one after the other in one run. Resolves to their outputs and to the stream. */
  async function outputs(body: Parameters<typeof rig.hold>[0], calls: readonly (readonly [string, object])[]) {
    const { call: first, reader, runId } = await rig.hold({ message: 'Do it', ...body });
    let call = first;
    const texts: string[] = [];
    for (const [index, [name, input]] of calls.entries()) {
      await call.toolCall(`call_${index}`, name, JSON.stringify(input));
      await call.end();
      call = await rig.controller.nextCall();
      const last = call.request.prompt.at(-1);
      texts.push(last?.kind === 'tool_output' ? last.output : '');
    }
    await call.text('Done');
    await call.end();
    await reader.whole();
    return { texts, reader, runId };
  }

  test('a command changes files, and the stream, the step and `messages` show them', async (t) => {
    cites(
      t,
      'agents-15-write-file',
      'agents-15-run-command',
      'agents-15-published',
      'agents-15-changed',
      'agents-15-file-changed',
    );
    const apiIntegrationId = await working();
    for (const name of ['a', 'b', 'c']) {
      await upload(rig.api, name, { apiIntegrationId, folder: '/app/mnt/d', filename: `${name}.txt` });
    }
    const { texts, reader, runId } = await outputs({ apiIntegrationId }, [
      [
        'run_command',
        {
          command: 'cat a.txt; printf more >> a.txt; rm b.txt; touch c.txt; printf "{}" > new.json',
          folder: '/app/mnt/d',
        },
      ],
      ['write_file', { path: '/app/mnt/d/new.json', content: '[]' }],
      ['run_command', { command: 'ls /app/mnt/d; exit 3' }],
    ]);
    assert.equal(
      texts[0],
      [
        'Exit code 0.',
        '/app/mnt/d/a.txt: changed, 5 bytes',
        '/app/mnt/d/b.txt: deleted',
        '/app/mnt/d/new.json: created, 2 bytes',
        'Output:',
        'a',
      ].join('\n'),
    );
    assert.equal(texts[1], '/app/mnt/d/new.json: changed, 2 bytes');
    assert.equal(texts[2], 'Exit code 3.\nNo file was changed.\nOutput:\na.txt\nc.txt\nnew.json\n');
    assert.equal(await toText(apiIntegrationId, '/app/mnt/d/a.txt'), 'amore');
    assert.equal(await toText(apiIntegrationId, '/app/mnt/d/b.txt'), 404);
    assert.equal(await toText(apiIntegrationId, '/app/mnt/d/new.json'), '[]');
    const file = (name: string, change: string, size: number, type = 'text/plain') => ({
      name,
      path: `/app/mnt/d/${name}`,
      mime_type: type,
      size_bytes: size,
      change,
    });
    const changed = file('a.txt', 'changed', 5);
    const deleted = file('b.txt', 'deleted', 0);
    const json = 'application/json';
    assert.deepEqual(messagesFrame(reader).files, [changed, deleted, file('new.json', 'created', 2, json)]);
    const items = reader.frames.flatMap(({ event, data }) => {
      const item = event === null ? JSON.parse(data).data : undefined;
      return item?.name === 'file_changed' ? [item.item] : [];
    });
    assert.deepEqual(items[0], {
      type: 'file_changed_item',
      raw_item: { type: 'file_changed', call_id: 'call_0', ...changed },
    });
    assert.deepEqual(
      items.map(({ raw_item: { name, change } }) => `${name} ${change}`),
      ['a.txt changed', 'b.txt deleted', 'new.json created', 'new.json changed'],
    );
    const { body } = await rig.api.get(`/v2/integrations/${apiIntegrationId}/runs/${runId}/steps`);
    const steps = body.items.filter(({ kind }: { kind: string }) => kind === 'tool').reverse();
    const stepFile = ({ name, path, mime_type: contentType, size_bytes: size, change }: typeof changed) => ({
      name,
      path,
      contentType,
      size,
      change,
    });
    assert.deepEqual(
      steps.map(({ files }: { files: unknown }) => files),
      [
        [changed, deleted, file('new.json', 'created', 2, json)].map(stepFile),
        [file('new.json', 'changed', 2, json)].map(stepFile),
        [],
      ],
    );
    // Each step ends with the last of its own frames.
    for (const { lastEventId, status } of steps) {
      assert.equal(status, 'completed');
      assert.ok(reader.frames.some(({ id, data }) => id === lastEventId && /file_changed|tool_output/.test(data)));
    }
    const replay = await rig.api.events(runId, null, apiIntegrationId);
    assert.deepEqual(await replay.whole(), reader.frames);
    await stagesDeleted();
  });

  test('nothing is published if another writer changed a file since the staging', async (t) => {
    cites(t, 'agents-15-conflicts', 'agents-15-all-or-nothing');
    const apiIntegrationId = await working();
    const put = (filename: string, text: string) => upload(rig.api, text, { apiIntegrationId, filename });
    for (const name of ['a', 'b', 'c']) await put(name, name);
    const started = staged();
    const { call, reader, runId } = await rig.hold({ apiIntegrationId, message: 'Do it' });
    await call.toolCall(
      'call_0',
      'run_command',
      JSON.stringify({ command: 'sleep 2; printf mine | tee a b new other; rm c', folder: '/app/mnt/u' }),
    );
    const folder = { apiIntegrationId, folder: '/app/mnt/u' };
    await call.end();
    await started;
    await put('a', 'theirs');
    await put('d', 'unrelated');
    const next = await rig.controller.nextCall();
    const outcome = next.request.prompt.at(-1);
    await next.end();
    await reader.whole();
    assert.ok(outcome?.kind === 'tool_output');
    assert.equal(
      outcome.output,
      'No file was changed. Another writer changed these files after the command had its copy. Read them again, then repeat the change.\n- /app/mnt/u/a',
    );
    assert.deepEqual(
      await Promise.all(
        ['a', 'b', 'c', 'd', 'new'].map((name) => toText(apiIntegrationId, `${folder.folder}/${name}`)),
      ),
      ['theirs', 'b', 'c', 'unrelated', 404],
    );
    assert.ok(!reader.text.includes('file_changed'));
    assert.deepEqual(messagesFrame(reader).files, []);
    const { body } = await rig.api.get(`/v2/integrations/${apiIntegrationId}/runs/${runId}/steps`);
    const step = body.items.find(({ kind }: { kind: string }) => kind === 'tool');
    assert.deepEqual([step.status, step.files, step.error.message], ['failed', [], outcome.output]);
  });

  test('nothing is published beyond the quota', async (t) => {
    cites(t, 'agents-15-quota', 'agents-15-all-or-nothing', 'contract-7-run-quota');
    const apiIntegrationId = await working();
    await upload(rig.api, 'x'.repeat(1500), { apiIntegrationId, filename: 'old' });
    const { texts } = await outputs({ apiIntegrationId }, [
      run('printf %600d 0 > new; printf y >> old', { folder: '/app/mnt/u' }),
      write('/app/mnt/u/new', 'z'.repeat(501)),
      run('printf %501d 0 > new; rm old', { folder: '/app/mnt/u' }),
      run('printf %400d 0 > new; rm old', { folder: '/app/mnt/u' }),
    ]);
    // A member's folder has its own quota.
    const small = await working({ memberQuotaBytes: 300 });
    const member = await outputs({ apiIntegrationId: small }, [
      run('mkdir -p members/a members/b; printf %300d 0 > members/a/x; printf %301d 0 > members/b/x'),
      run(
        'mkdir -p members/a members/b; printf %300d 0 > members/a/x; printf %300d 0 > members/b/x; printf %301d 0 > x',
      ),
    ]);
    assert.match(
      member.texts[0] ?? '',
      /^No file .* files below \/app\/mnt\/members\/b would exceed their member's quota of 300/,
    );
    assert.match(member.texts[1] ?? '', /members\/b\/x: created/);
    const refused = /^No file was changed: with these changes the files would exceed their quota of 2000 bytes\./;
    assert.match(texts[0] ?? '', refused);
    assert.match(texts[1] ?? '', refused);
    assert.match(texts[2] ?? '', refused, 'the form of the deleted file could be sent again');
    assert.match(texts[3] ?? '', /old: deleted/);
    assert.equal(((await toText(apiIntegrationId, '/app/mnt/u/new')) as string).length, 400);
    // A form for a file below `promised` is open.
    const form = signing(10, { apiIntegrationId, folder: '/app/mnt/promised', filename: 'x' });
    assert.equal((await rig.api.post('/create_agency_upload', form)).status, 200);
    const next = await outputs({ apiIntegrationId }, [write('/app/mnt/promised', 'y')]);
    assert.match(next.texts[0] ?? '', /these paths are taken\. Choose others\.\n- \/app\/mnt\/promised$/);
  });

  test('with `member`, a run works in the folder of its member', async (t) => {
    cites(t, 'agents-15-folder', 'agents-15-files-below', 'contract-7-run-writes');
    const apiIntegrationId = await working({ fileAccess: 'member' });
    for (const name of ['ann', 'bob']) {
      await rig.member(apiIntegrationId, name);
      await upload(rig.api, name, { apiIntegrationId, folder: `/app/mnt/members/${name}`, filename: 'own.txt' });
    }
    const { texts } = await outputs({ apiIntegrationId, consumerId: 'ann' }, [
      run('pwd; ls -R; printf 1 > sub.txt'),
      run('find . -type f | sort; printf 2 > members/ann/b.txt; printf 3 > c.txt', { folder: '/app/mnt' }),
      write('/app/mnt/members/bob/own.txt', 'mine'),
      write('/app/mnt/shared.txt', 'mine'),
    ]);
    const home = '/app/mnt/members/ann';
    assert.equal(texts[0], `Exit code 0.\n${home}/sub.txt: created, 1 byte\nOutput:\n${home}\n.:\nown.txt\n`);
    const outside = 'is outside of the folder in which you may make files';
    assert.equal(
      texts[1],
      `Exit code 0.\n${home}/b.txt: created, 1 byte\nThese were not kept:\n/app/mnt/c.txt ${outside}\n` +
        'Output:\n./members/ann/own.txt\n./members/ann/sub.txt\n',
    );
    for (const text of texts.slice(2)) assert.match(text, /is outside of the folder in which you may make files/);
    assert.equal(await toText(apiIntegrationId, '/app/mnt/members/bob/own.txt'), 'bob');
  });

  test('with `chat`, a run sees what its chat made, and other paths are only taken', async (t) => {
    cites(t, 'contract-7-made', 'contract-7-run-writes');
    const apiIntegrationId = await working({ fileAccess: 'chat' });
    await upload(rig.api, 'secret', { apiIntegrationId, folder: '/app/mnt/x', filename: 'hidden' });
    const { texts } = await outputs({ apiIntegrationId, chatId: 'c' }, [
      run('ls; printf 1 > made; mkdir x; printf 2 > x/hidden'),
      run('printf 1 > made; printf 2 > x'),
      write('/app/mnt/x/hidden/below', 'y'),
      run('printf 1 > made'),
    ]);
    const taken = (path: string) => `No file was changed: these paths are taken. Choose others.\n- ${path}`;
    assert.deepEqual(texts.slice(0, 3), [
      taken('/app/mnt/x/hidden'),
      taken('/app/mnt/x'),
      taken('/app/mnt/x/hidden/below'),
    ]);
    const seen = async (chatId: string) => (await outputs({ apiIntegrationId, chatId }, [run('ls')])).texts[0];
    assert.match((await seen('c')) ?? '', /Output:\nmade\n$/);
    assert.match((await seen('d')) ?? '', /Output:\n\(none\)$/);
  });

  test('a command that exceeds a limit or is cancelled changes nothing', async (t) => {
    cites(t, 'agents-15-published', 'agents-15-timeout');
    const apiIntegrationId = await working();
    if (store === 'sqlite') {
      const most = 'mkdir m; cd m; touch $(seq 5001); echo made';
      const { texts: many } = await outputs({ apiIntegrationId }, [run(most), run('ls')]);
      const tooMany =
        /^The tool failed: The command changed more than 5000 files, .* No file was changed\..*\nOutput:\nmade\n$/;
      assert.match(many[0] ?? '', tooMany);
      assert.match(many[1] ?? '', /Output:\n\(none\)$/);
    }
    const { texts } = await outputs({ apiIntegrationId }, [
      run('echo begun; printf x > a; sleep 60', { timeout_seconds: 1 }),
      run('ls', { timeout_seconds: 301 }),
    ]);
    // just-bash has no output before the end.
    const output = missing === null ? 'begun\n' : '(none)';
    assert.ok(texts[0]?.endsWith(`ended after 1 s, its time limit. No file was changed.\nOutput:\n${output}`));
    assert.match(texts[1] ?? '', /^The arguments are wrong: .*timeout_seconds/);
    const started = staged();
    const { call, reader, runId } = await rig.hold({ apiIntegrationId, message: 'Do it' });
    await call.toolCall('call_0', 'run_command', JSON.stringify({ command: 'printf x > b; sleep 60' }));
    await call.end();
    await started;
    await rig.api.post(`/v2/integrations/${apiIntegrationId}/runs/${runId}/cancel`);
    await reader.whole();
    assert.equal(messagesFrame(reader).status, 'cancelled');
    for (const name of ['a', 'b']) assert.equal(await toText(apiIntegrationId, `/app/mnt/${name}`), 404);
    await stagesDeleted();
  });

  test('only regular files with allowed names are published, and the rest is named', {
    skip: missing ?? false,
  }, async (t) => {
    cites(t, 'agents-15-regular-files');
    const apiIntegrationId = await working();
    await upload(rig.api, 'a', { apiIntegrationId, folder: '/app/mnt/d', filename: 'kept' });
    const bytes = "printf 1 > $'bad\\xff'; mkdir $'dir\\xff'; printf 1 > $'dir\\xff/in'";
    const { texts } = await outputs({ apiIntegrationId }, [
      run(
        `ln -s kept link; mkfifo pipe; ${bytes}; printf 1 > $'line\\nbreak'; printf 1 > 'back\\slash'; ln good hard; rm kept; ln -s /etc/passwd kept; printf 1 > good; mkdir empty; chmod 000 empty; printf 1 > locked; chmod 000 locked`,
        { folder: '/app/mnt/d' },
      ),
    ]);
    const lines = (texts[0] ?? '').split('\n');
    assert.deepEqual(lines.slice(0, 3), [
      'Exit code 0.',
      '/app/mnt/d/good: created, 1 byte',
      '/app/mnt/d/locked: created, 1 byte',
    ]);
    for (const name of [
      'link is a link',
      'pipe is a named pipe',
      'kept is a link',
      'slash has a path that is not allowed',
    ]) {
      assert.ok(
        lines.some((line) => line.includes(name)),
        name,
      );
    }
    assert.equal(lines.filter((line) => line.includes('a name that is not UTF-8')).length, 2);
    assert.equal(await toText(apiIntegrationId, '/app/mnt/d/kept'), 'a');
    await stagesDeleted();
  });

  fullTest('parallel commands of one answer are published one after the other', async () => {
    const apiIntegrationId = await working();
    const { call, reader } = await rig.hold({ apiIntegrationId, message: 'Do it' });
    for (let index = 0; index < 4; index += 1) {
      await call.toolCall(
        `call_${index}`,
        'run_command',
        JSON.stringify({ command: `printf ${index} > f${index}; printf x > same` }),
      );
    }
    await call.end();
    const next = await rig.controller.nextCall();
    const texts = next.request.prompt.flatMap((item) => (item.kind === 'tool_output' ? [item.output] : []));
    await next.end();
    await reader.whole();
    assert.equal(texts.filter((text) => text.startsWith('Exit code 0.')).length, 1);
    assert.equal(texts.filter((text) => text.endsWith('\n- /app/mnt/same')).length, 3);
    assert.equal(messagesFrame(reader).files.length, 2);
    const ids = reader.frames.map(({ id }) => id);
    assert.deepEqual(
      ids,
      ids.toSorted((one, other) => one - other),
    );
  });

  test('a folder with too many files is refused, and a smaller one is not', async (t) => {
    cites(t, 'agents-15-too-many-files');
    const apiIntegrationId = await working();
    // Rows without bytes: the call fails before it reads them.
    await askStore(
      rig.server.dataDir,
      `insert into files (integration_id, path, blob_key, size_bytes, etag, content_type, modified_at)
       with recursive n(i) as (select 1 union all select i + 1 from n where i < 5001)
       select '${apiIntegrationId}', '\u0001many\u0001' || i, '${store} blob ' || i, 1, '', '', 0 from n`,
    );
    const { texts } = await outputs({ apiIntegrationId }, [run('ls'), run('ls', { folder: '/app/mnt/few' })]);
    assert.equal(texts[0], 'The tool failed: /app/mnt has more than 5000 files or 256 MiB; name a smaller folder.');
    assert.equal(texts[1], 'Exit code 0.\nNo file was changed.\nOutput:\n(none)');
  });

  test('a long output loses its middle, and an endless one ends the command', async (t) => {
    cites(t, 'agents-15-output');
    const apiIntegrationId = await working();
    const { texts } = await outputs({ apiIntegrationId }, [
      run('seq 100000'),
      run('printf x > a; while true; do seq 99999; done'),
    ]);
    const [long = ''] = texts;
    assert.ok(long.length <= 40_000 && long.length > 39_000);
    assert.match(long, /^Exit code 0\.\nNo file was changed\.\nOutput:\n1\n2\n/);
    assert.match(long, /\n\[… the middle of the output is left out …\]\n[\s\S]*\n99999\n100000\n$/);
    assert.match(texts[1] ?? '', /because it printed too much\. No file was changed\./);
    assert.equal(await toText(apiIntegrationId, '/app/mnt/a'), 404);
  });

  test('the last lines of the output are progress while the command runs', { skip: missing ?? false }, async () => {
    const apiIntegrationId = await working();
    const { call, reader } = await rig.hold({ apiIntegrationId, message: 'Do it' });
    const command = `echo begun; sleep 0.3; seq 20; printf 'über'; sleep 1; seq 1000000 1000500`;
    await call.toolCall('call_0', 'run_command', JSON.stringify({ command }));
    await call.end();
    const next = await rig.controller.nextCall();
    await next.end();
    await reader.whole();
    const items = reader.frames.flatMap(({ event, data }) => (event === null ? [JSON.parse(data).data] : []));
    const shown = items.flatMap(({ name, item }) => (name === 'tool_progress' ? [item.raw_item] : []));
    const texts = shown.map(({ text }) => text);
    assert.deepEqual(new Set(shown.map(({ call_id: callId }) => callId)), new Set(['call_0']));
    assert.equal(texts[0], 'begun');
    assert.ok(texts.includes('12\n13\n14\n15\n16\n17\n18\n19\n20\nüber'), texts.join('\n---\n'));
    assert.ok(texts.at(-1).endsWith('1000499\n1000500'));
    for (const text of texts) assert.ok(text.length <= 1000 && text.split('\n').length <= 10);
  });

  fullTest('an agent speaks while the files of another one are published', async () => {
    const apiIntegrationId = await working({ agency: 'team', defaultAgent: 'Lead' });
    const { call, reader, runId } = await rig.hold({ apiIntegrationId, message: 'Do it' });
    for (const agent of ['Worker', 'Speaker']) {
      const input = { recipient_agent: agent, message: agent, additional_instructions: '' };
      await call.toolCall(`send_${agent}`, 'send_message', JSON.stringify(input));
    }
    await call.end();
    const calls = [await rig.controller.nextCall(), await rig.controller.nextCall()];
    const of = (instructions: string) => calls.find(({ request }) => request.instructions === instructions);
    const [working1, speaking] = [of('Work.'), of('Speak.')];
    assert.ok(working1 !== undefined && speaking !== undefined);
    let isOver = false;
    const words = (async () => {
      for (let n = 0; !isOver; n += 1) {
        await speaking.text(`word${n} `);
        await sleep(5);
      }
      await speaking.end();
    })();
    for (let n = 0; n < 3; n += 1) {
      const current: typeof working1 = n === 0 ? working1 : await rig.controller.nextCall();
      await current.toolCall(`write_${n}`, 'write_file', JSON.stringify({ path: `/app/mnt/${n}`, content: `${n}` }));
      await current.end();
    }
    const last = await rig.controller.nextCall();
    isOver = true;
    await words;
    await last.text('Written');
    await last.end();
    const end = await rig.controller.nextCall();
    await end.text('Done');
    await end.end();
    await reader.whole();
    assert.equal(messagesFrame(reader).files.length, 3);
    const ids = reader.frames.map(({ id }) => id);
    assert.deepEqual(
      ids,
      [...new Set(ids)].toSorted((one, other) => one - other),
    );
    const replay = await rig.api.events(runId, null, apiIntegrationId);
    assert.deepEqual(await replay.whole(), reader.frames);
  });
}
