import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import type { Command } from 'commander';
import { type CliCommand, commandWords, getLeaves } from './command.ts';
import { completionScript, SHELLS } from './completion-scripts.ts';
import { buildProgram } from './program.ts';

const program = buildProgram({}, '0.1.0');
const leaves = getLeaves(program);
const getName = (command: Command) => commandWords(command).join(' ');
const named = (name: string) => leaves.find((leaf) => getName(leaf) === name);

test('the help of every command fits 80 columns and has an example of it', () => {
  assert.ok(leaves.length > 30);
  const groups = program.commands.filter(({ commands }) => commands.length > 0) as CliCommand[];
  assert.ok(groups.length > 5);
  for (const leaf of [program, ...groups, ...leaves]) {
    const text = leaf.helpInformation();
    assert.deepEqual(
      text.split('\n').filter((line) => line.length > 80),
      [],
      getName(leaf),
    );
    assert.match(text, /^Examples?:$/m, getName(leaf));
    if (leaf !== program && !groups.includes(leaf)) {
      assert.match(text, /^ {2}-h, --help /m, getName(leaf));
      assert.ok(
        leaf.examples.some((example) => example.includes(`runwire ${getName(leaf)}`)),
        getName(leaf),
      );
    }
  }
});

test('the examples name commands and options that exist', () => {
  for (const example of [program, ...leaves].flatMap(({ examples }) => examples)) {
    const [, words = ''] = /\brunwire ((?:[a-z]+ ?)+)/.exec(example) ?? [];
    const [first = '', second = ''] = words.split(' ');
    const leaf = named(`${first} ${second}`) ?? named(first);
    assert.ok(leaf !== undefined || example.startsWith('npm create'), example);
    const flags = leaf?.options.flatMap(({ long, short }) => [long, short]) ?? [];
    const [, own = example] = /\brunwire (.*?)(?: [|>] .*)?$/.exec(example) ?? [];
    for (const [, flag = ''] of own.matchAll(/ (--?[a-z][a-z-]*)/g))
      assert.ok(flags.includes(flag), `${example}: ${flag}`);
  }
});

test('every command that prints a result has --json', () => {
  const without = leaves.filter(({ options }) => !options.some(({ long }) => long === '--json'));
  assert.deepEqual(without.map(getName), ['completion']);
});

test('bash completes commands, second words and options', () => {
  const script = `${completionScript('bash', program)}
    try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _runwire; echo "\${COMPREPLY[*]}"; }
    try runwire c; try runwire keys ''; try runwire keys create --n; try runwire run Hello --re; try runwire files get /a --o`;
  assert.deepEqual(execFileSync('bash', ['-c', script], { encoding: 'utf8' }).trim().split('\n'), [
    'chat cancel compare chats completion',
    'create list revoke',
    '--name',
    '--request',
    '--output',
  ]);
});

test('the scripts of all shells have every command and option', () => {
  for (const shell of SHELLS) {
    const script = completionScript(shell, program);
    for (const leaf of leaves) {
      for (const word of commandWords(leaf)) assert.ok(script.includes(word), `${shell}: ${word}`);
      for (const { long } of leaf.options) assert.ok(script.includes(long?.slice(2) ?? ''), `${shell}: ${long}`);
    }
  }
});
