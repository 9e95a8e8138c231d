import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import {
  BlockSplitter,
  followableAddress,
  getCodeFence,
  isPlain,
  splitBlocks,
} from '../packages/console/src/lib/markdown-blocks.ts';

const TEXT = [
  'A paragraph\nof two lines.',
  '# Title\n',
  '- one\n\n- two\n\n  still two\n- three\n',
  'Text before\n```ts\nconst a = 1;\n\n- no list\n```\nText after\n',
  '| a | b |\n|---|---|\n| 1 | 2 |\n',
  '~~~\n```\n~~~\nEnd',
].join('\n\n');

test('ends a block at an empty line, and keeps lists and code together', () => {
  const { finished, tail } = splitBlocks(TEXT);
  deepEqual(
    finished.map((block) => block.trim()),
    [
      'A paragraph\nof two lines.',
      '# Title',
      '- one\n\n- two\n\n  still two\n- three',
      'Text before',
      '```ts\nconst a = 1;\n\n- no list\n```',
      'Text after',
      '| a | b |\n|---|---|\n| 1 | 2 |',
      '~~~\n```\n~~~',
    ],
  );
  equal(tail, 'End');
});

test('gives the same blocks whatever pieces arrive, and never changes a finished one', () => {
  const whole = splitBlocks(TEXT).blocks();
  for (const size of [1, 2, 7, 30]) {
    const splitter = new BlockSplitter();
    let before: readonly string[] = [];
    for (let index = 0; index < TEXT.length; index += size) {
      splitter.append(TEXT.slice(index, index + size));
      deepEqual(splitter.finished.slice(0, before.length), before);
      before = [...splitter.finished];
    }
    deepEqual(splitter.blocks(), whole);
  }
});

test('cuts long text without losing a character', () => {
  const cases = [
    'x'.repeat(50_000),
    'word '.repeat(10_000),
    '- item of a list\n'.repeat(2_000),
    'line of a paragraph\n'.repeat(2_000),
    '🙂'.repeat(20_000),
  ];
  for (const text of cases) {
    const { finished, tail } = splitBlocks(text);
    equal(finished.join('') + tail, text);
    ok([...finished, tail].every((block) => block.length <= 4_200 && !/^[\udc00-\udfff]/.test(block)));
  }
});

test('continues long code and long tables with their first lines', () => {
  const code = splitBlocks(`\`\`\`js\n${'let a = 1;\n'.repeat(4_000)}\`\`\`\nafter`);
  ok(code.finished.length > 2 && code.finished.every((block) => getCodeFence(block)?.language === 'js'));
  equal(code.finished.map((block) => getCodeFence(block)?.code).join('\n'), 'let a = 1;\n'.repeat(4_000).trimEnd());
  equal(code.tail, 'after');
  const table = splitBlocks(`| a | b |\n|---|---|\n${'| one | two |\n'.repeat(1_000)}`);
  ok(table.blocks().length > 2 && table.blocks().every((block) => block.startsWith('| a | b |\n|---|---|\n| one')));
  equal(table.blocks().join('').split('| one | two |').length - 1, 1_000);
});

test('shows at most 200 000 characters', () => {
  const splitter = splitBlocks('y'.repeat(1_000_000));
  equal(splitter.length, 1_000_000);
  equal(splitter.blocks().join('').length, 200_000);
});

test('reads code whose fence is not closed yet', () => {
  deepEqual(getCodeFence('```ts\nlet a'), { language: 'ts', code: 'let a' });
  deepEqual(getCodeFence('```ts\nlet a\n```\n'), { language: 'ts', code: 'let a' });
  deepEqual(getCodeFence('```'), { language: '', code: '' });
  equal(getCodeFence('text'), null);
});

test('does not lex a block that would take too long', () => {
  equal(isPlain('_a'.repeat(1_000)), true);
  equal(isPlain('An *ordinary* paragraph with [a link](https://example.com).'), false);
});

test('follows only links to pages and mailboxes', () => {
  equal(followableAddress('https://example.com/a?b=c'), 'https://example.com/a?b=c');
  equal(followableAddress('mailto:a@example.com'), 'mailto:a@example.com');
  const refused = ['javascript:alert(1)', 'JAVASCRIPT:alert(1)', ' javascript:alert(1)', 'java\nscript:alert(1)'];
  const others = ['data:text/html,x', '//example.com', '/keys', 'file:///etc/passwd', 'https://', 'https:example'];
  for (const address of [...refused, ...others]) equal(followableAddress(address), null);
});
