import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { maskCode } from '../test/support/architecture/code-scanner.ts';

/*
 * `node -C runwire scripts/claims.ts <revision>` compares what tests claim now with what they claimed then: the names of
 * tests, the names and texts of expectations, cited requirements, counted figures and planted faults. It prints what is
 * gone (-) and what is new (+), without what only moved to another file.
 */

const FOLDERS = ['test', 'proofs', 'bench', 'requirements', 'packages'];
const isVerification = (path: string) =>
  /^(test|proofs|packages\/test-kit)\/.*\.ts$|\.test\.ts$/.test(path) && !/node_modules|\/dist\//.test(path);

const CALLS =
  /(?<![\w.$])((?:t\.)?test|fullTest|it|describe|cites|count|within|until|eventually|named|expect[A-Z]\w*|assert\.\w+)\(/g;
const FAULT = /^ {6}'?([\w-]+)'?:(?=\s*(?:\n\s*)?(?:\/\^|inEachClient))|faults: \{ '?([\w-]+)'?:/gm;
const PROOF = /^ {2}'?([\w-]+)'?: \{$/gm;

/** The text between the bracket that opens at `from` and the bracket that closes it. */
function argumentsAt(source: string, mask: string, from: number): string {
  let depth = 1;
  let at = from + 1;
  for (; at < mask.length && depth > 0; at += 1) {
    if ('([{'.includes(mask[at] ?? ' ')) depth += 1;
    if (')]}'.includes(mask[at] ?? ' ')) depth -= 1;
  }
  return source.slice(from + 1, at - 1);
}

const oneLine = (text: string) =>
  text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/,? ?([)\]}])/g, '$1')
    .trim();
const leadingText = (text: string) => /^\s*(?:'((?:[^'\\]|\\.)*)'|`([^`]*)`)/.exec(text)?.slice(1).find(Boolean);

function claimsIn(path: string, source: string): string[] {
  const mask = maskCode(source);
  const calls = [...mask.matchAll(CALLS)].flatMap((found): string[] => {
    const [whole, callee = ''] = found;
    const text = argumentsAt(source, mask, found.index + whole.length - 1);
    if (callee === 'cites') return [...text.matchAll(/'([^']+)'/g)].map(([, id]) => `cites ${id}`);
    if (callee === 'count') return [...text.matchAll(/[{,]\s*(\w+)(?=\s*[:,}])/g)].map(([, key]) => `counts ${key}`);
    if (callee.startsWith('assert.')) return [`${callee}(${oneLine(text)})`];
    const name = leadingText(text);
    return name === undefined
      ? []
      : [`${/^(it|describe|t\.test|fullTest)$/.test(callee) ? 'test' : callee} "${oneLine(name)}"`];
  });
  if (!/^proofs\/(proof-table|[a-z-]+-promises)\.ts$/.test(path)) return calls;
  const proofs = [...source.matchAll(PROOF)];
  const faults = [...source.matchAll(FAULT)].map(({ index, 1: own, 2: first }) => {
    const proof = proofs.findLast((one) => one.index < index)?.[1];
    return `fault ${proof} ${own ?? first}`;
  });
  return [...calls, ...faults, ...proofs.map(([, name]) => `proof ${name}`)];
}

function countClaims(files: readonly (readonly [path: string, source: string])[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const [path, source] of files) {
    for (const claim of claimsIn(path, source)) sums.set(claim, (sums.get(claim) ?? 0) + 1);
  }
  return sums;
}

const git = (...args: readonly string[]) =>
  execFileSync('git', args, { encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'inherit'] });

const [revision = 'HEAD'] = process.argv.slice(2);
const pathsThen = git('ls-tree', '-r', '--name-only', revision, ...FOLDERS)
  .trim()
  .split('\n')
  .filter(isVerification);
const then = countClaims(pathsThen.map((path) => [path, git('show', `${revision}:${path}`)]));
const pathsNow = FOLDERS.flatMap((folder) => globSync(`${folder}/**/*.ts`)).filter(isVerification);
const now = countClaims(pathsNow.map((path) => [path, readFileSync(path, 'utf8')]));
for (const claim of [...new Set([...then.keys(), ...now.keys()])].toSorted()) {
  const difference = (now.get(claim) ?? 0) - (then.get(claim) ?? 0);
  if (difference !== 0) process.stdout.write(`${difference < 0 ? '-' : '+'} ${Math.abs(difference)}× ${claim}\n`);
}
const sum = (claims: Map<string, number>) => [...claims.values()].reduce((all, count) => all + count, 0);
process.stdout.write(
  `${sum(then)} claims in ${pathsThen.length} files at ${revision}, now ${sum(now)} in ${pathsNow.length}\n`,
);
