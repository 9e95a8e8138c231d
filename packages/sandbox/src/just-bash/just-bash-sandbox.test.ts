import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkLimit } from '../testing/interpreter-limit.ts';
import { checkCase, runCase, SANDBOX_CASES } from '../testing/sandbox-conformance.ts';
import { JustBashSandbox } from './just-bash-sandbox.ts';

/* Each command starts a process, so all cases of the conformance suite run only in check:full. */

for (const expected of SANDBOX_CASES.slice(0, 1)) {
  test(`just-bash: ${expected.claim}`, () => checkCase(new JustBashSandbox(), expected));
}

test('just-bash: ends the command at a limit: calls without end', () =>
  checkLimit(new JustBashSandbox(), 'f() { f; }; f; echo after'));

test('just-bash: refuses a file above the limit', async () => {
  const command = 'seq 5000 > big.txt; seq 5000 >> small.txt; ls; echo after';
  const { end, output, files } = await runCase(new JustBashSandbox(), { command, limits: { fileBytes: 20_000 } });
  assert.deepEqual(end, { end: 'exited', exitCode: 1 }, output);
  assert.match(output, /after\n[\s\S]*big\.txt: EFBIG[\s\S]*small\.txt: EFBIG/);
  assert.ok(Object.values(files).every((text) => text.length <= 20_000));
});

test('just-bash: links lead to what the command sees, and are not kept', async () => {
  const command = [
    'ln -s d l && cat l/e/y.txt && echo n > l/n.txt && rm l && ls d',
    'ln -s d l && mv l m && readlink m && rm -r d && ls',
    'ln -s loop loop; cat loop || echo endless',
    `ln -s ${import.meta.filename} out; cat out || echo outside`,
  ].join('; ');
  const { output, files } = await runCase(new JustBashSandbox(), { command, files: { 'd/e/y.txt': 'Y\n' } });
  assert.match(output, /^Y\ne\nn\.txt\nd\nm\nendless\noutside\n/);
  assert.match(output, /^bash: \/app\/mnt\/m: a symbolic link, which is not kept after the command$/m);
  assert.deepEqual(files, {});
});

/** What GNU `date` prints. */
const DATES: Readonly<Record<string, string>> = {
  '2026-01-31 +1 day': '2026-02-01T00:00:00',
  '2026-01-31 1 month': '2026-03-03T00:00:00',
  '2026-01-31 -1 month': '2025-12-31T00:00:00',
  '3 days ago 2026-03-10': '2026-03-07T00:00:00',
  '2026-03-10 12:00 next week': '2026-03-17T12:00:00',
  '2026-03-10 1 year ago': '2025-03-10T00:00:00',
  'Fri, 30 Jan 2026 10:00:00 +0000': '2026-01-30T10:00:00',
  '2026-01-30T10:00:00+02:00': '2026-01-30T08:00:00',
};

test('just-bash: relative dates, options with values attached, and length are those of GNU', async () => {
  const dates = Object.keys(DATES).map((date) => `date -u -d '${date}' +%FT%T`);
  const others = [
    `date -u -d 'next monday' +%a; date -u --date='last fri' +%a; date -d '1 day never' || echo refused`,
    `printf '1\\n2\\n3\\n' | xargs -n2 echo; printf '1,2' | xargs -d, -I{} echo {} -n1`,
    `printf 'ab\\nabcde\\n' > a; awk '/length/ {print} length > 4 {print "length", length, length("x")}' a`,
    `printf '{print length}' > p; awk -F, -f p -v x=1 a; awk -f none a || echo none`,
    `sed -i.bak 1d a || cat a | wc -l; ls a a; cat < /dev/null`,
  ];
  const { output } = await runCase(new JustBashSandbox(), { command: [...dates, ...others].join('\n') });
  assert.match(
    output,
    new RegExp(
      `^${RegExp.escape(`${Object.values(DATES).join('\n')}\nMon\nFri\nrefused\n1 2\n3\n1 -n1\n2 -n1\nlength 5 1\n2\n5\nnone\n`)} *2\\na\\na\\n`,
    ),
  );
});
