import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { startTestServer, TEST_API_KEY, type TestServer, type TestServerOptions } from '@runwire/test-kit';
import { type ProcessResult, run, serve, startRunwire } from './cli-process.ts';

/** Exit code, stdout and stderr. */
export const ended = ({ code, stdout, stderr }: ProcessResult) => [code, stdout, stderr];

/** A server, and the commands of `runwire` that ask it. */
export class CommandServer implements AsyncDisposable {
  readonly server: TestServer;

  private constructor(server: TestServer) {
    this.server = server;
  }

  static async start(options: TestServerOptions): Promise<CommandServer> {
    return new CommandServer(await startTestServer(options));
  }

  get environment() {
    return { RUNWIRE_URL: this.server.url, RUNWIRE_API_KEY: TEST_API_KEY, RUNWIRE_INTEGRATION: 'demo' };
  }

  /** Runs a command in a process of its own. */
  runwire(args: readonly string[], input?: string, env: Readonly<Record<string, string>> = {}): Promise<ProcessResult> {
    const options = { env: { ...this.environment, ...env }, ...(input === undefined ? {} : { input }) };
    return startRunwire(args, options).result;
  }

  /** Runs commands one after the other in one process. Resolves to exit code, stdout and stderr of each. */
  async session(...commands: readonly (readonly string[])[]): Promise<[number, string, string][]> {
    const script = join(import.meta.dirname, 'command-session.ts');
    const options = { env: this.environment, input: JSON.stringify(commands) };
    const { code, stdout, stderr } = await run(process.execPath, ['-C', 'runwire', script], options);
    assert.equal(code, 0, stderr);
    const errors = stderr.split('\0');
    return stdout
      .split('\0')
      .slice(0, -1)
      .map((text, index) => [Number(text.slice(-1)), text.slice(0, -1), errors[index] ?? '']);
  }

  /** Runs a command that must succeed, and parses its output. */
  async json(...args: readonly string[]) {
    const { code, stdout, stderr } = await this.runwire([...args, '--json']);
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout);
  }

  /** Runs commands in a terminal, one after the other; returns what it shows. */
  async inTerminal(...commands: readonly (readonly string[])[]): Promise<string> {
    const lines = commands.map((args) => [...serve.slice(0, -1), ...args].map((word) => `'${word}'`).join(' '));
    const env = { ...process.env, ...this.environment, TERM: 'xterm', NO_COLOR: '1' };
    const terminal = spawn('script', ['-qec', lines.join(' && '), '/dev/null'], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    return text(terminal.stdout);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.server[Symbol.asyncDispose]();
  }
}
