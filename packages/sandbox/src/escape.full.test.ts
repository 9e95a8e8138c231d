import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  copyFileSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ModelCall, Rig } from '@runwire/test-kit';
import { count, plantedFault, scale } from '@runwire/test-kit/scale.ts';
import { expectAtLeast, expectAtMost, expectEqual, Shortfall, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import { withoutNamespaces } from '@runwire/test-kit/without-namespaces.ts';
import { AgenciesFolder } from '../../../test/support/agencies-folder.ts';
import { getDisk } from '../../../test/support/disk-of.ts';
import { ITEMS, type Item, MEASURED } from '../../../test/support/escape-attempt.ts';
import { ATTEMPTS } from '../../../test/support/escape-attempts.ts';
import { PLANTED, PLANTED_DESCRIPTOR } from '../../../test/support/escape-host.ts';
import type { EscapeOutcome, EscapeRequest } from '../../../test/support/escape-process.ts';
import { missingBubblewrap } from '../../../test/support/services.ts';

/*
 * Commands try to leave each sandbox, as root and as another user. The same attempts succeed without a sandbox. Then a
 * server runs hostile commands while another stream continues.
 */

/** No system assigns this number. */
const USER = { uid: 65_531, gid: 65_531 };
const LEAST_TRIED = 50;
/** How long all attempts of one user may take. */
const ATTEMPTS_MS = 900_000;
const MISSING = /command not found|command not available/;

interface Setting {
  readonly label: string;
  readonly user: typeof USER | null;
  readonly sandboxes: EscapeRequest['sandboxes'];
  readonly names: readonly string[] | null;
  readonly hasNamespaces: boolean;
}

/** Starts the process that makes the attempts, with a planted variable and a planted descriptor. */
async function countAttempts({ user, sandboxes, names, hasNamespaces }: Setting, fault: string | null) {
  const root = mkdtempSync(join(tmpdir(), 'runwire-escape-'));
  const secret = randomBytes(16).toString('hex');
  const planted = join(root, 'descriptor.txt');
  writeFileSync(planted, secret, { mode: 0o644 });
  // As a server does, which copies an agency's files: its path is visible in `/proc`.
  const skills = mkdtempSync(join(tmpdir(), 'runwire-sandbox-'));
  writeFileSync(join(skills, 'SKILL.md'), 'skill\n');
  copyFileSync('/usr/bin/id', join(skills, 'set-uid-id'));
  for (const path of [root, skills]) chmodSync(path, 0o777);
  chmodSync(join(skills, 'SKILL.md'), 0o666);
  chmodSync(join(skills, 'set-uid-id'), 0o4755);
  const descriptor = openSync(planted, 'r');
  try {
    const request: EscapeRequest = { sandboxes, fault, names, root, skills };
    const own = [
      process.execPath,
      '-C',
      'runwire',
      new URL('../../../test/support/escape-process.ts', import.meta.url).pathname,
    ];
    const command = [...own, JSON.stringify(request)];
    const [program = '', ...args] = hasNamespaces ? command : withoutNamespaces(command);
    const more = Array.from({ length: PLANTED_DESCRIPTOR - 2 }, (_, index) =>
      index + 3 === PLANTED_DESCRIPTOR ? descriptor : 'ignore',
    );
    const child = spawn(program, args, {
      ...user,
      env: { PATH: process.env.PATH, [PLANTED]: secret },
      stdio: ['ignore', 'pipe', 'inherit', ...more],
    });
    const ended = new Promise((resolve) => child.on('close', resolve));
    const timer = setTimeout(() => child.kill('SIGKILL'), ATTEMPTS_MS);
    const lines = (await text(child.stdout as NodeJS.ReadableStream)).trim().split('\n');
    const code = await ended;
    clearTimeout(timer);
    expectEqual('exit code of the process that makes the attempts', code, 0);
    return lines.map((line) => JSON.parse(line) as EscapeOutcome);
  } finally {
    closeSync(descriptor);
    for (const path of [root, skills]) rmSync(path, { recursive: true, force: true });
  }
}

interface Judgement {
  /** The names of the attempts that succeed without a sandbox. */
  readonly tried: ReadonlySet<string>;
  readonly escaped: readonly string[];
  /** Sandbox → the attempts that were made in it; those for which just-bash lacks the program do not count. */
  readonly counts: ReadonlyMap<string, number>;
  readonly mostMib: number;
  readonly mostDiskMib: number;
}

/** An attempt that fails without a sandbox shows nothing, so it does not count. */
function judge(label: string, outcomes: readonly EscapeOutcome[]): Judgement {
  const signs = new Map(ATTEMPTS.map(({ name, seen }) => [name, seen]));
  const isControl = ({ sandbox }: EscapeOutcome) => sandbox === 'none';
  const tried = new Set(
    outcomes
      .filter((one) => isControl(one) && one.signs.some((sign) => sign === signs.get(one.name)))
      .map(({ name }) => name),
  );
  const blind = outcomes.filter((one) => isControl(one) && !tried.has(one.name)).map(({ name }) => name);
  if (blind.length > 0) process.stdout.write(`Cannot be tried here ${label}: ${blind.join(', ')}\n`);
  const inSandboxes = outcomes.filter((one) => !isControl(one));
  const counts = new Map<string, number>();
  for (const { sandbox, name, output } of inSandboxes) {
    if (!tried.has(name) || (sandbox === 'just-bash' && MISSING.test(output))) continue;
    counts.set(sandbox, (counts.get(sandbox) ?? 0) + 1);
  }
  return {
    tried,
    escaped: inSandboxes
      .filter((one) => one.signs.length > 0)
      .map((one) => `${one.sandbox} ${label}: ${one.name} (${one.signs.join(', ')})`),
    counts,
    mostMib: Math.max(0, ...inSandboxes.map(({ mib }) => mib)),
    mostDiskMib: Math.max(0, ...inSandboxes.map(({ diskMib }) => diskMib)),
  };
}

const UNMEASURED = ATTEMPTS.filter(({ seen }) => !MEASURED.has(seen)).map(({ name }) => name);
const CHEAP = ATTEMPTS.filter(({ seen }) => !MEASURED.has(seen) && seen !== 'late').map(({ name }) => name);

/** What the server finds out by `/proc` of the command, if it has one. */
const BY_PROC: ReadonlySet<Item> = new Set(['memory of many processes', 'descriptors of the server']);
const NAMES_BY_PROC = ATTEMPTS.filter(({ item }) => BY_PROC.has(item)).map(({ name }) => name);

function chooseSettings(fault: string | null): readonly Setting[] {
  const root: Setting = {
    label: 'as root',
    user: null,
    sandboxes: ['bubblewrap', 'just-bash'],
    names: null,
    hasNamespaces: true,
  };
  // The faults are faults of bubblewrap.
  if (fault !== null) return [{ ...root, sandboxes: ['bubblewrap'], names: UNMEASURED }];
  const user: Setting = { ...root, label: 'as a user', user: USER };
  return [
    root,
    { ...root, sandboxes: ['bubblewrap-without-proc'], names: NAMES_BY_PROC },
    scale({ ...user, sandboxes: ['bubblewrap'], names: CHEAP }, user),
    { ...user, label: 'without namespaces', sandboxes: ['auto'], names: scale(CHEAP, null), hasNamespaces: false },
  ];
}

async function makeAttempts(fault: string | null) {
  const all: Judgement[] = [];
  const figures: Record<string, number> = { attempts: ATTEMPTS.length };
  for (const setting of chooseSettings(fault)) {
    const judged = judge(setting.label, await countAttempts(setting, fault));
    all.push(judged);
    if (!setting.hasNamespaces) expectEqual('sandboxes without namespaces', [...judged.counts.keys()], ['just-bash']);
    for (const [sandbox, count] of judged.counts)
      figures[`${sandbox} ${setting.label}`.replaceAll(/[ -]/g, '_')] = count;
  }
  const escaped = all.flatMap((one) => one.escaped);
  if (escaped.length > 0) throw new Shortfall(`escaped: expected 0, found ${escaped.length}: ${escaped.join('; ')}.`);
  const tried = new Set(all.flatMap((one) => [...one.tried]));
  for (const item of ITEMS) {
    const count = ATTEMPTS.filter((attempt) => attempt.item === item && tried.has(attempt.name)).length;
    expectAtLeast(`attempts of the item ${item}`, count, 1);
  }
  return {
    ...figures,
    tried: expectAtLeast('attempts that succeed without a sandbox', tried.size, LEAST_TRIED),
    escaped: 0,
    most_mib: Math.max(...all.map(({ mostMib }) => mostMib)),
    most_disk_mib: Math.max(...all.map(({ mostDiskMib }) => mostDiskMib)),
  };
}

const AGENCY = 'name: Work\nagents:\n  - { name: Worker, description: Works., instructions: Work., sandbox: true }\n';
const INTEGRATION = 'hostile';
const PATHS = 'paths of the server';
const DISK = 'a disk without end';
/** Each shows nothing, ends at a limit, or fails. */
const HOSTILE: Readonly<Record<string, string>> = {
  [PATHS]: 'cat /app/agency/files/a.txt /proc/self/mountinfo /proc/[0-9]*/environ; ls -l /proc/[0-9]*/fd',
  'a fork bomb': 'b() { b | b & }; b; sleep 5',
  'loops without end': 'for i in 1 2 3 4; do while :; do :; done & done; wait',
  'output without end': 'yes',
  'memory of many processes': `for i in $(seq 30); do perl -e '$n = 100 << 20; $x = "x" x $n; sleep 5' & done; wait`,
  'files without end': `perl -e 'while (1) { open F, ">", "f" . $n++ or exit }'`,
  [DISK]: `mkdir $'\\xff'; cd $'\\xff'; while :; do i=$((i + 1)); head -c 100000000 /dev/zero > $i; done`,
};
const HOSTILE_SECONDS = 5;
/** The limit of the memory of a command, the half of it for what happens between two looks, and its processes. */
const MOST_COMMAND_MIB = 1.5 * 1024 + 128;
/** The limit of the folder of a command, and what is written between two looks. */
const MOST_FOLDER_MIB = 4 * 512;
/** A stream that waited for all commands would wait for half a minute. */
const MOST_TOKEN_MS = 3000;
const LEAST_TOKENS = 20;

/** A stream whose next token is sent after the one before has arrived, until the work is over. */
async function inLockStep(rig: Rig, counting: Promise<ModelCall>, work: () => Promise<void>) {
  const reader = await rig.api().complete({ apiIntegrationId: INTEGRATION, message: 'Count.' });
  const call = await within('call of the other chat', WAIT_MS, counting);
  let [tokens, slowestMs, isOver] = [0, 0, false];
  const over = work().finally(() => (isOver = true));
  over.catch(() => {});
  for (; !isOver; tokens += 1) {
    const token = `<${tokens}>`;
    const sentAt = performance.now();
    await call.text(token);
    await within(`token ${tokens}`, WAIT_MS, reader.untilText(token));
    slowestMs = Math.max(slowestMs, performance.now() - sentAt);
    await sleep(10);
  }
  await call.end();
  await over;
  await within('end of the other chat', WAIT_MS, reader.over);
  return { tokens, slowestMs: Math.round(slowestMs) };
}

/** The memory of all processes of the commands, which have their own user, and the disk below a folder. */
function usedBy(folder: string | null) {
  let kib = 0;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const status = readFileSync(`/proc/${pid}/status`, 'latin1');
      if (!/^Uid:\s+65530\s/m.test(status)) continue;
      for (const [, value] of status.matchAll(/^(?:RssAnon|RssShmem):\s+(\d+)/gm)) kib += Number(value);
    } catch {
      // The process has ended.
    }
  }
  return { mib: kib / 1024, diskMib: folder === null ? 0 : getDisk(folder).mib };
}

async function hostileCommands() {
  using agencies = new AgenciesFolder({ 'work/agency.yaml': AGENCY, 'work/files/a.txt': 'shown' });
  const folder = mkdtempSync(join(tmpdir(), 'runwire-escape-'));
  chmodSync(folder, 0o777);
  const env = { RUNWIRE_AGENCIES_DIR: agencies.path, RUNWIRE_SANDBOX: 'bubblewrap', TMPDIR: folder };
  try {
    await using rig = await Rig.start({ env });
    await rig.prepare({ apiIntegrationId: INTEGRATION, agency: 'work', fileAccess: 'all' });
    const counting = Promise.withResolvers<ModelCall>();
    const outputs = new Map<string, string>();
    rig.model.onCall = (call) => {
      const message = call.request.prompt.find((item) => item.kind === 'user')?.text ?? '';
      const last = call.request.prompt.at(-1);
      if (message === 'Count.') return counting.resolve(call);
      const input = JSON.stringify({ command: HOSTILE[message], timeout_seconds: HOSTILE_SECONDS });
      if (last?.kind === 'tool_output') outputs.set(message, last.output);
      const answered = last?.kind === 'tool_output' ? call.text('Done') : call.toolCall('call_1', 'run_command', input);
      answered.then(() => call.end()).catch(() => {});
    };
    const names = Object.keys(HOSTILE);
    const most = { mib: 0, diskMib: 0 };
    const run = async (message: string) => {
      const reader = await rig.api().complete({ apiIntegrationId: INTEGRATION, message });
      let isOver = false;
      const over = within(`end of ${message}`, WAIT_MS, reader.over).finally(() => (isOver = true));
      over.catch(() => {});
      for (; !isOver; await Promise.race([over, sleep(50)])) {
        // A long list of files would block this process, and so the tokens.
        const { mib, diskMib } = usedBy(message === DISK ? folder : null);
        [most.mib, most.diskMib] = [Math.max(most.mib, mib), Math.max(most.diskMib, diskMib)];
      }
      await over;
      if (!outputs.has(message)) throw new Shortfall(`${message}: expected an outcome, found none.`);
    };
    const { tokens, slowestMs } = await inLockStep(rig, counting.promise, async () => {
      for (const name of scale(names.slice(0, 5), names)) await run(name);
    });
    const shown = outputs.get(PATHS) ?? '';
    expectEqual('whether the command sees the files of its agency', shown.includes('shown'), true);
    for (const path of [rig.dataDir, agencies.path, import.meta.dirname]) {
      expectEqual('whether a command sees a path of the server', shown.includes(path), false);
    }
    const { body } = await rig.api().get(`/v2/integrations/${INTEGRATION}/files?folder=/app/mnt`);
    expectEqual('files that were published', body.items.length, 0);
    return {
      hostile: outputs.size,
      tokens: expectAtLeast('tokens beside hostile commands', tokens, LEAST_TOKENS),
      slowest_token_ms: expectAtMost('milliseconds of the slowest token', slowestMs, MOST_TOKEN_MS),
      hostile_mib: expectAtMost('MiB of a hostile command', Math.round(most.mib), MOST_COMMAND_MIB),
      hostile_disk_mib: expectAtMost(
        'MiB in the folder of a hostile command',
        Math.round(most.diskMib),
        MOST_FOLDER_MIB,
      ),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test('no command reaches beyond its sandbox', async (t) => {
  const fault = plantedFault();
  const missing = await missingBubblewrap();
  if (missing !== null) return t.skip(missing);
  if (process.getuid?.() !== 0) return t.skip('Only root can make the attempts as root and as another user.');
  const attempts = await makeAttempts(fault);
  count({ ...attempts, ...(await hostileCommands()) });
});
