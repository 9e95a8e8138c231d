import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPlain } from '@runwire/lib/plain-schema.ts';
import { askTool, askToRead, askToSearch, TestFiles } from '@runwire/test-kit';
import { type AgentFiles, FILE_TOOLS } from '../files-port.ts';
import { fileTools } from './file-tools.ts';
import { ENTRIES_A_LIST } from './list-files.ts';
import { READ_LIMITS } from './read-file.ts';
import { SEARCH_LIMITS, searchFilesWithin } from './search-files.ts';

async function withFiles(work: (stored: TestFiles, files: AgentFiles) => Promise<void>): Promise<void> {
  await using stored = await TestFiles.open();
  await work(stored, stored.seenBy('one'));
}

const list = (files: AgentFiles, input: object = {}) => askTool(fileTools(files), 'list_files', input);

test('the tools are those of the port, and each is repeatable', async () => {
  await withFiles(async (_, files) => {
    const tools = fileTools(files);
    assert.deepEqual(
      tools.map(({ name, repeatable }) => [name, repeatable]),
      FILE_TOOLS.map((name) => [name, true]),
    );
    for (const { name, inputSchema } of tools)
      assert.ok(isPlain(inputSchema), `${name} costs every start the draft's schema`);
    assert.match(await askTool(tools, 'read_file', {}), /^The arguments are wrong: .*path/);
    assert.match(await askTool(tools, 'read_file', { path: '/app/mnt/a', lines: 2001 }), /^The arguments are wrong: /);
    assert.match(await askTool(tools, 'list_files', { fodler: 'a' }), /^The arguments are wrong: /);
    assert.match(await askTool(tools, 'search_files', { text: '' }), /^The arguments are wrong: /);
  });
});

test('lists a folder by name, page by page, and reports a missing folder', async () => {
  await withFiles(async (stored, files) => {
    assert.equal(await list(files), 'The folder /app/mnt is empty.');
    await stored.put('one', '/app/mnt/u/b.csv', 'x', 'text/csv');
    await stored.put('one', '/app/mnt/u/42/a.txt', 'Hello');
    assert.equal(await list(files), '/app/mnt/u (folder)');
    assert.match(
      await list(files, { folder: '/app/mnt/u' }),
      /^\/app\/mnt\/u\/42 \(folder\)\n\/app\/mnt\/u\/b\.csv \(1 byte, text\/csv, 20\d\d-\d\d-\d\dT[\d:.]+Z\)$/,
    );
    assert.equal(await list(files, { folder: '/app/mnt/x' }), 'There is no folder /app/mnt/x.');
    assert.equal(await list(files, { folder: '/app/mnt/u/b.csv' }), 'There is no folder /app/mnt/u/b.csv.');
    for (let number = 0; number <= ENTRIES_A_LIST; number += 1) {
      await stored.put('one', `/app/mnt/many/${String(number).padStart(4, '0')}`, '.');
    }
    const first = (await list(files, { folder: '/app/mnt/many' })).split('\n');
    assert.equal(first.length, ENTRIES_A_LIST + 1);
    assert.equal(first.at(-1), '[There is more: call again with after "0199".]');
    assert.match(await list(files, { folder: '/app/mnt/many', after: '0199' }), /^\/app\/mnt\/many\/0200 [^\n]*$/);
    assert.equal(
      await list(files, { folder: '/app/mnt/many', after: '0200' }),
      'There is nothing more in /app/mnt/many.',
    );
  });
});

test('reports what is wrong with a path and opens no other file', async () => {
  await withFiles(async (stored, files) => {
    await stored.put('other', '/app/mnt/secret.txt', 'theirs');
    assert.equal(await askToRead(files, '/app/mnt/secret.txt'), 'There is no file /app/mnt/secret.txt.');
    assert.equal(await list(files), 'The folder /app/mnt is empty.');
    assert.match(await askToSearch(files, { text: 'theirs' }), /^0 matching lines, 0 files /);
    for (const path of ['/etc/passwd', 'a.txt', '/app/mnt', '/app/mnt/../secret.txt', '/app/mnt/a//b', '/app/mnt/a/']) {
      assert.match(await askToRead(files, path), /^`path` must /, path);
    }
    for (const folder of ['/', '/app/mnt/', '/app/mnt/..', '/app/mnt/u/../../other', '']) {
      assert.match(await list(files, { folder }), /^`folder` must /, folder);
      assert.match(await askToSearch(files, { text: 'a', folder }), /^`folder` must /, folder);
    }
  });
});

test('reads a text by lines and tells how to continue', async () => {
  await withFiles(async (stored, files) => {
    const path = '/app/mnt/u/a b.txt';
    await stored.put('one', path, 'One\r\nTwo\nThree');
    assert.equal(await askToRead(files, path), `${path} (text/plain, 14 bytes), lines 1 to 3 of 3:\nOne\nTwo\nThree`);
    assert.equal(
      await askToRead(files, path, { first_line: 2, lines: 1 }),
      `${path} (text/plain, 14 bytes), line 2:\nTwo\n[There is more: call again with first_line 3.]`,
    );
    assert.equal(
      await askToRead(files, path, { first_line: 3 }),
      `${path} (text/plain, 14 bytes), line 3 of 3:\nThree`,
    );
    assert.equal(await askToRead(files, path, { first_line: 4 }), `${path} (text/plain, 14 bytes) has only 3 lines.`);
    await stored.put('one', '/app/mnt/empty', '');
    assert.equal(await askToRead(files, '/app/mnt/empty'), '/app/mnt/empty (text/plain, 0 bytes) is empty.');
  });
});

test('describes a file that is no text', async () => {
  await withFiles(async (stored, files) => {
    await stored.put('one', '/app/mnt/a.png', Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0]), 'image/png');
    assert.equal(
      await askToRead(files, '/app/mnt/a.png'),
      '/app/mnt/a.png is not text: it is image/png of 5 bytes, and this tool reads only text, PDF, DOCX, XLSX, HTML and CSV.',
    );
  });
});

test('a text that is UTF-8 only at its start is read as attachments are', async () => {
  await withFiles(async (stored, files) => {
    await stored.put('one', '/app/mnt/late', Buffer.concat([Buffer.alloc(400_000, 'a\n'), Buffer.of(0xff)]));
    assert.match(await askToRead(files, '/app/mnt/late'), /lines 1 to 500:\na\n/);
    assert.match(await askToRead(files, '/app/mnt/late', { first_line: 199_999 }), / has only 100003 lines\.$/);
    assert.match(
      await askToRead(files, '/app/mnt/late', { first_line: 100_000 }),
      /\n\[Cut here: the first 200000 of 400001 characters are shown\.\]\n\[Note: .* it was read as windows-1252\.\]$/,
    );
  });
});

test('limits lines and characters per call, and every part can be read', async () => {
  await withFiles(async (stored, files) => {
    const lines = Array.from({ length: 5000 }, (_, index) => `line ${index + 1}`);
    await stored.put('one', '/app/mnt/lines', lines.join('\n'));
    const some = (await askToRead(files, '/app/mnt/lines')).split('\n');
    assert.deepEqual(some.slice(1, -1), lines.slice(0, READ_LIMITS.lines));
    assert.equal(some.at(-1), `[There is more: call again with first_line ${READ_LIMITS.lines + 1}.]`);

    const wide = Array.from({ length: 40 }, (_, index) => `${index + 1} `.padEnd(3000, '.'));
    await stored.put('one', '/app/mnt/wide', wide.join('\n'));
    const reached: string[] = [];
    while (reached.length < wide.length) {
      const text = await askToRead(files, '/app/mnt/wide', { first_line: reached.length + 1 });
      assert.ok(text.length < READ_LIMITS.characters + 500);
      const got = text.split('\n').filter((line) => /^\d+ \.\.\./.test(line));
      assert.ok(got.length > 0);
      reached.push(...got);
    }
    assert.deepEqual(reached, wide);

    const long = `${'0123456789'.repeat(9000)}😀`;
    await stored.put('one', '/app/mnt/long', `short\n${long}\nend`);
    const [, short, cut, end, note] = (await askToRead(files, '/app/mnt/long')).split('\n');
    assert.deepEqual([short, end], ['short', 'end']);
    assert.equal(
      cut,
      `${long.slice(0, READ_LIMITS.lineCharacters)}… [${long.length - READ_LIMITS.lineCharacters} more characters in this line]`,
    );
    assert.match(note ?? '', /call again with first_line 2, lines 1 and first_character 4001\.\]$/);
    let whole = '';
    for (let calls = 0; whole.length < long.length && calls < 10; calls += 1) {
      const text = await askToRead(files, '/app/mnt/long', {
        first_line: 2,
        lines: 1,
        first_character: whole.length + 1,
      });
      whole += (text.split('\n')[1] ?? '').replace(/… \[\d+ more characters in this line\]$/, '');
    }
    assert.equal(whole, long);
  });
});

test('a file of 20 MiB is read and searched piece by piece', async () => {
  await withFiles(async (stored, files) => {
    const line = `${'x'.repeat(99)}\n`;
    const bytes = Buffer.alloc(20 * 1024 * 1024, line);
    bytes.write('needle', bytes.length - 500);
    await stored.put('one', '/app/mnt/large', bytes);
    let held = 0;
    let largest = 0;
    const counted: AgentFiles = {
      ...files,
      async open(path) {
        const opened = await files.open(path);
        if (opened === null) return null;
        const pieces = async function* () {
          for await (const piece of opened.bytes) {
            largest = Math.max(largest, piece.length);
            held += piece.length;
            yield piece;
          }
        };
        return { ...opened, bytes: pieces() };
      },
    };
    await askToRead(counted, '/app/mnt/large', { lines: 3 });
    assert.ok(held <= 1024 * 1024, `${held} bytes were read for three lines`);
    const last = Math.floor(bytes.length / 100);
    assert.match(await askToRead(counted, '/app/mnt/large', { first_line: last - 8 }), /needle/);
    assert.match(
      await askToSearch(counted, { text: 'needle' }),
      /^1 matching line, 1 file .*\n\/app\/mnt\/large:\d+: /,
    );
    assert.ok(largest <= 1024 * 1024, `a piece of ${largest} bytes`);
  });
});

test('finds a text in all files below a folder, ignoring case if asked', async () => {
  await withFiles(async (stored, files) => {
    await stored.put('one', '/app/mnt/b/deep/er/c.txt', 'one\ntwo (Needle)\nthree needle needle');
    await stored.put('one', '/app/mnt/a.txt', 'needle.*');
    await stored.put('one', '/app/mnt/b/a.bin', Buffer.from('needle\0'));
    await stored.put('one', '/app/mnt/c/other.txt', 'nothing');
    assert.equal(
      await askToSearch(files, { text: 'needle' }),
      [
        '2 matching lines, 3 files below /app/mnt searched; 1 file skipped (not text).',
        '/app/mnt/a.txt:1: needle.*',
        '/app/mnt/b/deep/er/c.txt:3: three needle needle',
      ].join('\n'),
    );
    assert.match(await askToSearch(files, { text: 'NEEDLE', ignore_case: true }), /^3 matching lines, 3 files /);
    assert.match(await askToSearch(files, { text: 'needle.*' }), /^1 matching line, /, 'plain text, no pattern');
    assert.match(await askToSearch(files, { text: 'needle', folder: '/app/mnt/b' }), /^1 matching line, 1 file /);
    assert.equal(await askToSearch(files, { text: 'a', folder: '/app/mnt/x' }), 'There is no folder /app/mnt/x.');
    assert.equal(await askToSearch(files, { text: 'a\nb' }), '`text` must be within one line.');
    const far = `${'ä'.repeat(65_533)}needle${'.'.repeat(500)}`;
    await stored.put('one', '/app/mnt/far.txt', far);
    assert.equal(
      (await askToSearch(files, { text: 'needle', folder: '/app/mnt' })).split('\n').at(-1),
      `/app/mnt/far.txt:1 (character 65534): …${far.slice(65_533 - 80, 65_533 + 160)}…`,
      'across the pieces of a line',
    );
  });
});

test('a search stops at each of its limits and reports it', async () => {
  await withFiles(async (stored, files) => {
    for (const name of ['a', 'b', 'c', 'd']) await stored.put('one', `/app/mnt/${name}`, 'needle\nneedle\n');
    const within = (limits: object) =>
      askTool([searchFilesWithin({ ...SEARCH_LIMITS, ...limits })(files)], 'search_files', { text: 'needle' });
    assert.match(await within({ matches: 3 }), /^3 matching lines, .*\[Stopped after 3 matches: there may be more\./s);
    assert.match(await within({ files: 2 }), /^4 matching lines, 2 files .*\[Stopped after 2 files:/s);
    assert.match(await within({ bytes: 20 }), /\[Stopped after 20 bytes:/);
    assert.match(await within({ ms: 0 }), /^0 matching lines, 0 files .*\[Stopped after 0 seconds:/s);
    assert.doesNotMatch(await within({ files: 4, matches: 8 }), /Stopped/);
  });
});

test('a call ends when its run is stopped, and closes its files', async () => {
  await withFiles(async (stored, files) => {
    await stored.put('one', '/app/mnt/a', Buffer.alloc(1024 * 1024, 'a\n'));
    const stop = new AbortController();
    const disposed = Promise.withResolvers<void>();
    const stopped: AgentFiles = {
      ...files,
      async open(path) {
        const opened = await files.open(path);
        assert.ok(opened);
        const pieces = async function* () {
          for await (const piece of opened.bytes) {
            stop.abort(new Error('The run was cancelled.'));
            yield piece;
          }
        };
        const asyncDispose = async () => {
          await opened[Symbol.asyncDispose]();
          disposed.resolve();
        };
        return { ...opened, bytes: pieces(), [Symbol.asyncDispose]: asyncDispose };
      },
    };
    assert.equal(
      await askToSearch(stopped, { text: 'needle' }, stop.signal),
      'The tool failed: The run was cancelled.',
    );
    await disposed.promise;
  });
});
