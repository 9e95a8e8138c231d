import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';

/** The addresses of both ends. The range is unlikely to be in use. */
const HERE = '10.213.77.1';
const THERE = '10.213.77.2';
/** No interface has this address, so packets that are sent to it disappear. */
const NO_INTERFACE = '02:00:00:00:00:01';

const ip = (...args: readonly string[]): string => execFileSync('ip', args, { stdio: 'pipe' }).toString();

/** Returns null if this process may make networks, otherwise a skip's reason. */
export function cannotCutNetworks(): string | null {
  try {
    execFileSync('unshare', ['--net', 'ip', 'link', 'add', 'rw0', 'type', 'veth', 'peer', 'name', 'rw1'], {
      stdio: 'pipe',
    });
    return null;
  } catch {
    return 'a network of its own needs root, iproute2 and the right to make namespaces';
  }
}

/**
 * A network of its own for a process, connected with this one by a cable. While it is cut, packets disappear in both
 * directions and no side learns of it: no FIN, no RST, no ICMP message.
 */
export class CutNetwork implements AsyncDisposable {
  readonly here = HERE;
  readonly there = THERE;
  readonly #holder: ChildProcess;
  readonly #cable = `rw${process.pid}`;

  private constructor(holder: ChildProcess) {
    this.#holder = holder;
  }

  static async make(): Promise<CutNetwork> {
    // A network exists as long as a process is in it.
    const holder = spawn('unshare', ['--net', 'sh', '-c', 'echo made; exec sleep 600'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    await once(holder.stdout as NodeJS.ReadableStream, 'data');
    const network = new CutNetwork(holder);
    const cable = network.#cable;
    ip('link', 'add', cable, 'type', 'veth', 'peer', 'name', 'inner', 'netns', String(holder.pid));
    ip('addr', 'add', `${HERE}/30`, 'dev', cable);
    ip('link', 'set', cable, 'up');
    network.inside('ip', 'addr', 'add', `${THERE}/30`, 'dev', 'inner');
    network.inside('ip', 'link', 'set', 'inner', 'up');
    network.inside('ip', 'link', 'set', 'lo', 'up');
    return network;
  }

  /** The program that runs another one in this network. */
  get enter(): readonly [string, ...string[]] {
    return ['nsenter', `--net=/proc/${this.#holder.pid}/ns/net`];
  }

  /** Runs a program in this network; returns what it printed. */
  inside(...program: readonly string[]): string {
    const [enter, ...args] = this.enter;
    return execFileSync(enter, [...args, ...program], { stdio: 'pipe' }).toString();
  }

  cut(): void {
    ip('neigh', 'replace', THERE, 'lladdr', NO_INTERFACE, 'dev', this.#cable, 'nud', 'permanent');
    this.inside('ip', 'neigh', 'replace', HERE, 'lladdr', NO_INTERFACE, 'dev', 'inner', 'nud', 'permanent');
  }

  repair(): void {
    ip('neigh', 'del', THERE, 'dev', this.#cable);
    this.inside('ip', 'neigh', 'del', HERE, 'dev', 'inner');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const gone = once(this.#holder, 'exit');
    this.#holder.kill('SIGKILL');
    await gone;
    // The cable disappears with the network; the kernel may need a moment.
    try {
      ip('link', 'del', this.#cable);
    } catch {}
  }
}
