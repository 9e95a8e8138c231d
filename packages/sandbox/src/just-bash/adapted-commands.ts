import { posix } from 'node:path';
import { type Command, defineCommand, type ResolvedCommandContext } from 'just-bash';
import { readRelativeDate } from './relative-date.ts';

/** Commands of just-bash that lack everyday options, or silently ignore them. */

type Change = (args: readonly string[], ctx: ResolvedCommandContext) => Promise<readonly string[]> | readonly string[];

const output = (stdout: string) => ({ stdout, stderr: '', exitCode: 0 });
const failure = (stderr: string, exitCode = 1) => ({ stdout: '', stderr: `${stderr}\n`, exitCode });

/** An option that cannot be translated. */
class UnsupportedOption extends Error {
  override readonly name = 'UnsupportedOption';
}

/** just-bash's own command with other arguments. */
const adapt = (name: string, change: Change): Command =>
  defineCommand(name, async (args, ctx) => {
    const { origCommand } = ctx;
    if (origCommand === undefined) return failure(`${name}: command not found`, 127);
    try {
      return await origCommand([...(await change(args, ctx))]);
    } catch (error) {
      if (error instanceof UnsupportedOption) return failure(`${name}: ${error.message}`);
      throw error;
    }
  });

/** `-av` becomes `-rpv`. */
const copyArguments: Change = (args) =>
  args.flatMap((arg) => {
    if (arg === '--archive') return ['-r', '-p'];
    return /^-[a-zA-Z]*a/.test(arg) ? [arg.replace('a', 'rp')] : [arg];
  });

const XARGS_WITH_VALUE = /^-(0?r?)([InPLsd])(.+)$/;

/** `-I{}` and `-n1` become `-I {}` and `-n 1`. */
const xargsArguments: Change = (args) => {
  const changed: string[] = [];
  for (const [index, arg] of args.entries()) {
    // What follows is the command and its own arguments.
    if (!arg.startsWith('-') && !/^-[InPLsd]$/.test(args[index - 1] ?? '')) return [...changed, ...args.slice(index)];
    const [, flags = '', option, value = ''] = XARGS_WITH_VALUE.exec(arg) ?? [];
    if (option === undefined) changed.push(arg);
    else changed.push(...[...flags].map((flag) => `-${flag}`), `-${option}`, value);
  }
  return changed;
};

/** If all operands are files, `ls` of just-bash prints an empty line between them. */
const ls = defineCommand('ls', async (args, { fs, cwd, origCommand }) => {
  if (origCommand === undefined) return failure('ls: command not found', 127);
  const operands = args.filter((arg) => !arg.startsWith('-'));
  const stats = await Promise.all(operands.map((path) => fs.stat(posix.resolve(cwd, path)).catch(() => null)));
  const listed = await origCommand(args);
  if (stats.some((one) => one?.isDirectory !== false)) return listed;
  return { ...listed, stdout: listed.stdout.replaceAll('\n\n', '\n') };
});

/** Without this, `sed` would change the file and keep no copy. */
const sedArguments: Change = (args) => {
  const suffix = args.find((arg) => /^(-[nEr]*i[^nErsz]|--in-place=)/.test(arg));
  if (suffix === undefined) return args;
  throw new UnsupportedOption(`\`${suffix}\` keeps no copy in this sandbox; copy the file first, and use -i`);
};

/** `-tx1` becomes `-t x1`: just-bash would print octal numbers. */
const odArguments: Change = (args) =>
  args.flatMap((arg) => {
    if (arg === '-x') throw new UnsupportedOption('`-x` prints octal numbers in this sandbox; use -t x1');
    return /^-t./.test(arg) ? ['-t', arg.slice(2)] : [arg];
  });

const AWK_PARTS =
  /"(?:\\.|[^"\\])*"|#[^\n]*|(?<=(?:^|[(,{;!~&|\n])\s*)\/(?:\\.|[^/\\\n])*\/|(?<![\w$])length\b(?!\s*\()/g;
const AWK_WITH_VALUE = /^-[Fvf]$/;

/** `length` without arguments is empty in just-bash, so it becomes `length($0)`. */
const awkArguments: Change = async (args, { fs, cwd }) => {
  const isOperand = (arg: string, at: number) => !arg.startsWith('-') && !AWK_WITH_VALUE.test(args[at - 1] ?? '');
  const operand = args.findIndex(isOperand);
  const operands = operand === -1 ? args.length : operand;
  const file = args.indexOf('-f');
  const isFromFile = file !== -1 && file < operands;
  const text = isFromFile ? await fs.readFile(posix.resolve(cwd, args[file + 1] ?? '')) : args[operand];
  if (text === undefined) return args;
  const program = text.replace(AWK_PARTS, (part) => (part === 'length' ? 'length($0)' : part));
  if (!isFromFile) return args.with(operand, program);
  return [...args.slice(0, operands).toSpliced(file, 2), program, ...args.slice(operands)];
};

/** Reads the date after `-d`, and returns the arguments around it. */
function splitDate(args: readonly string[]) {
  const index = args.findIndex((arg) => /^(-u?d|--date$|--date=)/.test(arg));
  const arg = args[index];
  if (arg === undefined) return null;
  const attached = arg.startsWith('--') ? /=(.*)$/s.exec(arg)?.[1] : arg.replace(/^-u?d/, '') || undefined;
  const isUtc = arg.startsWith('-u');
  const after = args.slice(index + (attached === undefined ? 2 : 1));
  return {
    text: attached ?? args[index + 1] ?? '',
    rest: [...(isUtc ? ['-u'] : []), ...args.slice(0, index), ...after],
  };
}

const dateArguments: Change = async (args, { origCommand }) => {
  const split = splitDate(args);
  const relative = split === null ? null : readRelativeDate(split.text);
  if (split === null || relative === null) return args;
  const base = await origCommand?.(['-u', '-d', relative.base || 'now', '+%s']);
  if (base?.exitCode !== 0) throw new UnsupportedOption(`invalid date '${split.text}'`);
  return [...split.rest, '-d', `@${relative.apply(Number(base.stdout))}`];
};

/** just-bash's `rm` takes a link to a folder for the folder. */
const rm = defineCommand('rm', async (args, { fs, cwd, origCommand }) => {
  if (origCommand === undefined) return failure('rm: command not found', 127);
  const rest: string[] = [];
  for (const arg of args) {
    const path = posix.resolve(cwd, arg);
    const isLink = !/^-|\/$/.test(arg) && (await fs.lstat(path).catch(() => null))?.isSymbolicLink === true;
    if (isLink) await fs.rm(path);
    else rest.push(arg);
  }
  const hasOperands = rest.some((arg) => !arg.startsWith('-'));
  return hasOperands || rest.length === args.length ? origCommand(rest) : output('');
});

/** `mktemp [-d] [-p folder] [template]`. */
const mktemp = defineCommand('mktemp', async (args, { fs, cwd }) => {
  const isFolder = args.includes('-d');
  const parent = args.includes('-p') ? args[args.indexOf('-p') + 1] : undefined;
  const unknown = args.find((arg) => arg.startsWith('-') && !['-d', '-p', '-t', '-q'].includes(arg));
  if (unknown !== undefined) return failure(`mktemp: unrecognized option '${unknown}'`);
  const template = args.find((arg) => !arg.startsWith('-') && arg !== parent);
  const letters = /X{3,}/.exec(template ?? 'tmp.XXXXXXXXXX')?.[0];
  if (letters === undefined) return failure(`mktemp: too few X's in template '${template}'`);
  const name = (template ?? 'tmp.XXXXXXXXXX').replace(letters, () =>
    Array.from(crypto.getRandomValues(new Uint8Array(letters.length)), (byte) => (byte % 36).toString(36)).join(''),
  );
  const isTemporary = template === undefined || args.includes('-t') || parent !== undefined;
  const path = posix.resolve(cwd, isTemporary ? (parent ?? '/tmp') : '', name);
  if (isFolder) await fs.mkdir(path);
  else await fs.writeFile(path, '');
  return output(`${template === undefined || isTemporary ? path : name}\n`);
});

const realpath = defineCommand('realpath', async (args, { exec, cwd }) => {
  if (exec === undefined) return failure('realpath: command not found', 127);
  return exec('readlink', { args: ['-f', ...args], cwd });
});

export const ADAPTED_COMMANDS: readonly Command[] = [
  adapt('awk', awkArguments),
  adapt('cp', copyArguments),
  adapt('date', dateArguments),
  adapt('od', odArguments),
  adapt('sed', sedArguments),
  adapt('xargs', xargsArguments),
  ls,
  mktemp,
  realpath,
  rm,
];
