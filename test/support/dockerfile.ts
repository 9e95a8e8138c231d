import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { basename, join, matchesGlob, resolve } from 'node:path';
import { root, run } from './cli-process.ts';
import { machinePath, newcomersEnvironment, withoutHosts } from './newcomer.ts';

/*
 * Runs a Dockerfile's steps without a container engine: each stage is a folder, and the image's paths are paths in
 * it. It refuses unknown instructions, so that no step is silently skipped.
 */

const SETPRIV = '/usr/bin/setpriv';

export interface Instruction {
  readonly name: string;
  readonly flags: Readonly<Record<string, string>>;
  /** The text after the flags. */
  readonly text: string;
}

export function parseDockerfile(text: string): Instruction[] {
  const lines = text.replace(/^\s*#.*\n/gm, '').replace(/\\\n/g, ' ');
  return lines.split('\n').flatMap((line) => {
    const found = /^\s*([A-Z]+)\s+((?:--[\w-]+=\S+\s+)*)(.*?)\s*$/.exec(line);
    if (found === null && line.trim() !== '') throw new Error(`Not understood: ${line}`);
    const [, name = '', flags = '', rest = ''] = found ?? [];
    const given = [...flags.matchAll(/--([\w-]+)=(\S+)/g)].map(([, flag = '', value = '']) => [flag, value]);
    return name === '' ? [] : [{ name, flags: Object.fromEntries(given), text: rest }];
  });
}

const words = (text: string) => text.split(/\s+/);
const execForm = (text: string) => JSON.parse(text) as string[];

/** The last rule that names a path, or a folder above it, decides. */
export function isIgnored(path: string, rules: readonly string[]): boolean {
  const parents = path.split('/').map((_, index, parts) => parts.slice(0, index + 1).join('/'));
  let ignored = false;
  for (const rule of rules) {
    const pattern = rule.replace(/^!/, '');
    if (parents.some((parent) => matchesGlob(parent, pattern))) ignored = !rule.startsWith('!');
  }
  return ignored;
}

/** An image: its folder, and how a process in it is started. */
export interface Image {
  readonly folder: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Program and arguments that start it, as its user if that is not the current user. */
  readonly start: readonly [string, ...string[]];
  readonly healthcheck: readonly [string, ...string[]];
  /** Packages that its last stage installs by `apt-get`. Only root can install them, so they must exist on this machine. */
  readonly packages: readonly string[];
  readonly user: string;
}

interface Stage {
  readonly folder: string;
  readonly packages: string[];
  cwd: string;
}

/** Runs the steps of the repository's Dockerfile in an empty folder. No step runs as root. */
export async function buildImage(instructions: readonly Instruction[], into: string): Promise<Image> {
  const rules = readFileSync(join(root, '.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  const toTexts = (name: string) => instructions.filter((one) => one.name === name).map(({ text }) => text);
  const [user = ''] = toTexts('USER');
  const [uid = 0, gid = 0] = user.split(':').map(Number);
  const asUser =
    process.getuid?.() === 0 ? [SETPRIV, `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--no-new-privs'] : [];
  /** Gives a path with its content to the image's user. */
  const give = (path: string) => {
    if (asUser.length > 0) execFileSync('chown', ['-R', `${uid}:${gid}`, path]);
  };
  const places = [...new Set([...toTexts('WORKDIR'), ...toTexts('VOLUME')])];
  const stages = new Map<string, Stage>();
  let stage: Stage = { folder: into, cwd: into, packages: [] };
  /** Replaces paths of the image with paths on this machine, also in the middle of a command. */
  const here = (text: string, of = stage) =>
    places.reduce(
      (done, place) => done.replace(new RegExp(`(^|[\\s=:"'])${place}(?![\\w-])`, 'g'), `$1${of.folder}${place}`),
      text,
    );
  const home = join(into, 'home');
  mkdirSync(home);
  give(into);
  const env: Record<string, string> = {};
  let entry: string[] = [];
  let command: string[] = [];
  let healthcheck: string[] = [];

  const steps: Readonly<Record<string, (one: Instruction) => void | Promise<void>>> = {
    FROM({ text }) {
      const [, , name = 'image'] = words(text);
      const folder = join(into, name);
      mkdirSync(folder);
      give(folder);
      stage = { folder, cwd: folder, packages: [] };
      stages.set(name, stage);
    },
    WORKDIR({ text }) {
      stage.cwd = here(text);
      mkdirSync(stage.cwd, { recursive: true });
      give(stage.cwd);
    },
    COPY({ flags, text }) {
      const paths = words(text);
      const last = paths.pop() ?? '';
      const target = resolve(stage.cwd, here(last));
      const from = flags.from === undefined ? undefined : stages.get(flags.from);
      for (const path of paths) {
        if (from !== undefined) {
          // Linked, not copied: 150 MB less to write, and no later step changes them.
          execFileSync('cp', ['-al', '--', `${here(path, from)}/.`, target]);
          continue;
        }
        const intoFolder = last.endsWith('/') && paths.length > 1;
        cpSync(join(root, path), intoFolder ? join(target, basename(path)) : target, {
          recursive: true,
          verbatimSymlinks: true,
          filter: (file) => !isIgnored(file.slice(root.length + 1), rules),
        });
      }
      if (from === undefined || flags.chown !== undefined) give(target);
    },
    async RUN({ text }) {
      const installed = /^apt-get update && apt-get install -y --no-install-recommends ([\w. +-]+) && rm /.exec(
        text,
      )?.[1];
      if (installed !== undefined) {
        stage.packages.push(...words(installed));
        return;
      }
      const [program = '', ...args] = [...asUser, '/bin/sh', '-c', here(text)];
      const { code, stdout, stderr } = await run(program, args, {
        cwd: stage.cwd,
        // npm uses the folders of the user who runs this test.
        env: {
          ...newcomersEnvironment(machinePath().join(':')),
          ...{ HOME: home, npm_config_cache: join(home, '.npm'), npm_config_userconfig: join(home, '.npmrc') },
        },
      });
      if (code !== 0) throw new Error(`RUN ${text} ended with ${code}:\n${withoutHosts(stdout + stderr)}`);
    },
    ENV({ text }) {
      for (const pair of words(text)) {
        const [name = '', value = ''] = pair.split('=');
        // This machine's path is not passed on: the image must contain every program that it starts.
        env[name] = here(value).replace(':$PATH', '');
      }
    },
    USER() {},
    VOLUME({ text }) {
      if (!existsSync(here(text))) throw new Error(`VOLUME ${text}: it is not there, so it would be root's.`);
    },
    EXPOSE() {},
    STOPSIGNAL({ text }) {
      if (text !== 'SIGTERM') throw new Error(`STOPSIGNAL ${text}: expected SIGTERM.`);
    },
    HEALTHCHECK({ text }) {
      healthcheck = execForm(text.replace(/^CMD /, ''));
    },
    ENTRYPOINT({ text }) {
      entry = execForm(text).map((word) => here(word));
    },
    CMD({ text }) {
      command = execForm(text);
    },
  };
  for (const one of instructions) {
    const step = steps[one.name];
    if (step === undefined) throw new Error(`${one.name} is not known here.`);
    await step(one);
  }
  const started = (program: readonly string[]) => [...asUser, ...program] as unknown as readonly [string, ...string[]];
  return {
    ...{ folder: stage.folder, cwd: stage.cwd, packages: stage.packages, env, user },
    start: started([...entry, ...command]),
    healthcheck: started(healthcheck),
  };
}
