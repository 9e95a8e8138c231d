import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** The services that tests share, in a process of their own. They stop when this object is disposed. */
export class GateServices implements AsyncDisposable {
  readonly #child = spawn('node', ['-C', 'runwire', 'test/support/gate-services.ts'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  /** The environment that tests need. Resolves to null if a service could not be installed or started. */
  readonly environment: Promise<Record<string, string> | null> = new Promise((resolve) => {
    this.#child.stdout.once('data', (line: Buffer) => resolve(JSON.parse(line.toString())));
    this.#child.once('close', () => resolve(null));
  });

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.stdin.end();
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, 'close');
  }
}
