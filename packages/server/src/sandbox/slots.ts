import type { OnSandboxOutput, Sandbox, SandboxCommand, SandboxEnd } from '../agent/sandbox-port.ts';

/** Lets at most `slots` commands run concurrently. The others wait in the order of their arrival. */
export class SandboxSlots implements Sandbox {
  readonly #sandbox: Sandbox;
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(sandbox: Sandbox, slots: number) {
    this.#sandbox = sandbox;
    this.#free = slots;
  }

  get info() {
    return this.#sandbox.info;
  }

  get owner() {
    return this.#sandbox.owner;
  }

  get streamsOutput() {
    return this.#sandbox.streamsOutput;
  }

  get limitsProcesses() {
    return this.#sandbox.limitsProcesses;
  }

  /** The time that a command waits for its slot does not count towards its limit. */
  async run(command: SandboxCommand, onOutput: OnSandboxOutput, signal: AbortSignal): Promise<SandboxEnd> {
    if (!(await this.#enter(signal))) return { end: 'aborted' };
    try {
      return await this.#sandbox.run(command, onOutput, signal);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }

  /** Resolves to false if the signal aborts first. */
  #enter(signal: AbortSignal): boolean | Promise<boolean> {
    if (signal.aborted) return false;
    if (this.#free > 0) {
      this.#free -= 1;
      return true;
    }
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const enter = () => {
      signal.removeEventListener('abort', leave);
      resolve(true);
    };
    const leave = () => {
      this.#waiting.splice(this.#waiting.indexOf(enter), 1);
      resolve(false);
    };
    this.#waiting.push(enter);
    signal.addEventListener('abort', leave, { once: true });
    return promise;
  }
}
