import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '@runwire/test-kit';
import { Shortfall } from '@runwire/test-kit/shortfall.ts';
import { publishedPackages } from '../../scripts/build/packages.ts';
import { packPython } from '../../scripts/release/pack.ts';
import { root } from './cli-process.ts';
import { linkPackages } from './link-packages.ts';

const execute = promisify(execFile);
/** A program that runs longer has failed, for example npm without a registry. */
const LIMIT_MS = 300_000;
/** A release's folder, if the proof is for its files: it then builds none. */
const { PACKED_FOLDER } = process.env;
const RELEASE = PACKED_FOLDER === undefined ? undefined : resolve(root, PACKED_FOLDER);

/** The packages as people install them: built in a copy of this checkout, and packed. */
export class PackedPackages implements Disposable {
  /** For what the proof makes. It is deleted with the packages. */
  readonly folder = temporaryFolder();
  readonly checkout = join(this.folder, 'checkout');
  /** The folder of a package → its tarball's path. */
  readonly tarballs = new Map<string, string>();
  /** No installed package of this machine is used. */
  readonly env: Readonly<Record<string, string>> = {
    PATH: process.env.PATH ?? '',
    HOME: this.folder,
    npm_config_audit: 'false',
    npm_config_fund: 'false',
  };

  /** `spoil` gets the built package's folder, and changes it before it is packed. */
  static async make(spoil: (name: string, dist: string) => void = () => {}): Promise<PackedPackages> {
    const packed = new PackedPackages();
    try {
      await packed.#copy();
      if (RELEASE !== undefined) await packed.#useRelease(RELEASE);
      else {
        await packed.build();
        for (const { folder: name } of publishedPackages) spoil(name, packed.dist(name));
        const tarballs = await packed.#pack(publishedPackages.map(({ folder: name }) => packed.dist(name)));
        publishedPackages.forEach(({ folder: name }, index) => {
          packed.tarballs.set(name, tarballs[index] ?? '');
        });
      }
      // The one package of others that a published package depends on.
      const [typebox = ''] = await packed.#pack([join(root, 'node_modules/typebox')]);
      packed.tarballs.set('typebox', typebox);
      return packed;
    } catch (error) {
      packed[Symbol.dispose]();
      throw error;
    }
  }

  dist(name: string): string {
    return join(this.checkout, 'packages', name, 'dist');
  }

  tarball(name: string): string {
    const path = this.tarballs.get(name);
    if (path === undefined) throw new Error(`No package ${name} is published.`);
    return path;
  }

  /** The paths of the wheel and the source archive of the Python client. */
  pythonFiles(): string[] {
    const folder = join(RELEASE ?? this.folder, 'python');
    if (RELEASE === undefined) packPython(folder, this.checkout);
    return readdirSync(folder).map((file) => join(folder, file));
  }

  /** Files that are not committed yet are copied too. */
  async #copy(): Promise<void> {
    const { stdout } = await execute('git', ['ls-files', '-z', '-co', '--exclude-standard'], { cwd: root });
    const paths = stdout.split('\0').filter((path) => existsSync(join(root, path)) && path !== '');
    for (const path of paths) {
      mkdirSync(dirname(join(this.checkout, path)), { recursive: true });
      cpSync(join(root, path), join(this.checkout, path));
    }
    linkPackages(root, this.checkout);
  }

  /** Takes the tarballs that a release has made, and unpacks each as if it had been built here. */
  async #useRelease(folder: string): Promise<void> {
    for (const { folder: name } of publishedPackages) {
      const manifest = JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8'));
      const tarball = join(folder, `${manifest.name.replace('@', '').replace('/', '-')}-${manifest.version}.tgz`);
      this.tarballs.set(name, tarball);
      mkdirSync(this.dist(name));
      await this.run('tar', ['-xzf', tarball, '--strip-components=1', '-C', this.dist(name)], this.folder);
    }
  }

  /** Packs these folders, and returns their tarballs' paths. */
  async #pack(folders: readonly string[]): Promise<string[]> {
    const stdout = await this.run('npm', ['pack', '--json', '--ignore-scripts', ...folders], this.folder);
    return JSON.parse(stdout).map(({ filename }: { filename: string }) => join(this.folder, filename));
  }

  async build(...args: readonly string[]): Promise<void> {
    await this.run(process.execPath, ['-C', 'runwire', 'scripts/build/main.ts', ...args], this.checkout);
  }

  /** Runs a program to its end, and returns its output. Throws a `Shortfall` if it fails. */
  async run(program: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
    const options = { cwd, timeout: LIMIT_MS, killSignal: 'SIGKILL', maxBuffer: 2 ** 28 } as const;
    try {
      return (await execute(program, args, { ...options, env: { ...this.env, ...env } })).stdout;
    } catch (error) {
      const { stdout = '', stderr = '', code, signal } = error as Partial<Record<string, unknown>>;
      const output = `${stdout}${stderr}`.slice(-4000);
      throw new Shortfall(`${[program, ...args].join(' ')}: exit ${signal ?? code}:\n${output}`);
    }
  }

  /** Makes a project with these packages and nothing else. npm may use only the tarballs. */
  async project(name: string, packages: readonly string[]): Promise<string> {
    const project = join(this.folder, name);
    mkdirSync(project);
    await this.run('npm', ['init', '--yes', '--init-type=module'], project);
    const tarballs = packages.map((needed) => this.tarball(needed));
    await this.run('npm', ['install', '--offline', '--ignore-scripts', ...tarballs], project);
    return project;
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
