import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { peerScript } from './peers.ts';
import { ASK_MEMORY, integrationFor, type LoadOrder, memberId, type Phase, type PhaseResult } from './phases.ts';
import type { Announcement, Memory, ServerSettings } from './server-process.ts';

/**
 * `floor` and `durable` are the two floors, `ours` is our server, `webhook` our server with one webhook endpoint, `traced` our server
 * that exports all traces. Any other name is a peer.
 */
export type ContestantName = 'floor' | 'durable' | 'ours' | 'webhook' | 'traced' | (string & {});

export const isOurs = (name: ContestantName): boolean => ['ours', 'webhook', 'traced'].includes(name);

export interface Contestant extends AsyncDisposable {
  /** The first process, if there are several. */
  readonly process: ChildProcess;
  readonly order: Omit<LoadOrder, 'phases'>;
}

export interface ContestantOptions {
  readonly members: number;
  readonly providerPort?: number | null;
  /** See `ServerSettings.searchMs`. */
  readonly searchMs?: number;
  /** Our server's protocol; Responses by default. */
  readonly protocol?: ServerSettings['protocol'];
  /** If set, our server runs on PostgreSQL, in this many processes that share the data folder. */
  readonly postgres?: { readonly url: string; readonly nodes: number };
  /** A data folder of the caller, and the key if it has been used before. Absent: a folder that is deleted at the end. */
  readonly kept?: { readonly dataDir: string; readonly apiKey: string | null };
}

/** Runs `start` so that the servers which it starts, of this or of another checkout, count what they do. */
export async function withCounting<T>(start: () => Promise<T>, { isOptimized = true } = {}): Promise<T> {
  const before = process.env.NODE_OPTIONS;
  const module = `${pathToFileURL(script('counting.ts'))}${isOptimized ? '' : '?unoptimized'}`;
  process.env.NODE_OPTIONS = `${before ?? ''} --import=${module}`;
  try {
    return await start();
  } finally {
    if (before === undefined) delete process.env.NODE_OPTIONS;
    else process.env.NODE_OPTIONS = before;
  }
}

const INTEGRATION = 'bench';
const CONFLICT = 409;

/** Deleted at exit, so that an interrupted benchmark leaves no folder. The servers exit when their channel closes. */
const folders = new Set<string>();
process.on('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130));

const script = (name: string) => join(import.meta.dirname, name);

/** Starts one server in its own process, or several on one database. Its data folder is deleted with it. */
export async function startContestant(name: ContestantName, options: ContestantOptions): Promise<Contestant> {
  const dataDir = options.kept?.dataDir ?? mkdtempSync(join(tmpdir(), `runwire-bench-${name}-`));
  if (options.kept === undefined) folders.add(dataDir);
  const receiver = name === 'webhook' ? await startReceiver() : null;
  const webhookPort = receiver === null ? null : (receiver.address() as AddressInfo).port;
  const sink = name === 'traced' ? await startHelper('trace-sink.ts') : null;
  const settings: ServerSettings = {
    webhookPort,
    dataDir,
    isDurable: name === 'durable',
    providerPort: options.providerPort ?? null,
    searchMs: options.searchMs ?? null,
    protocol: options.protocol ?? 'responses',
    databaseUrl: options.postgres?.url ?? null,
    collectorPort: sink?.port ?? null,
  };
  const children: ChildProcess[] = [];
  const stop = async () => {
    await Promise.all(children.map(end));
    receiver?.closeAllConnections();
    receiver?.close();
    sink?.stop();
    if (folders.delete(dataDir)) rmSync(dataDir, { recursive: true, force: true });
  };
  const servers: { pid: number; port: number }[] = [];
  let key = options.kept?.apiKey ?? null;
  for (let node = 1; node <= (options.postgres?.nodes ?? 1); node += 1) {
    // One log line per run is part of the cost. The log is written to a file, as in production.
    const logFile = join(dataDir, `server-${node}.log`);
    try {
      const child = forkServer(name, settings, logFile);
      children.push(child);
      const { port, apiKey } = await firstMessage<Announcement>(child);
      servers.push({ pid: child.pid ?? 0, port });
      // The first of several nodes makes the key for all.
      key ??= apiKey;
      if (node === 1 && apiKey !== null) {
        await prepareAccounts(`http://127.0.0.1:${port}`, apiKey, options.members);
        if (webhookPort !== null) await addWebhook(`http://127.0.0.1:${port}`, apiKey, webhookPort);
      }
    } catch (error) {
      process.stderr.write(readFileSync(logFile));
      await stop();
      throw error;
    }
  }
  const path = isOurs(name) ? '/get_completion_v2' : '/';
  const order = { servers, path, apiKey: key, integrationId: INTEGRATION, members: options.members };
  return { process: children[0] as ChildProcess, order, [Symbol.asyncDispose]: stop };
}

function forkServer(name: ContestantName, settings: ServerSettings, logFile: string): ChildProcess {
  const log = openSync(logFile, 'a');
  const isFloor = name === 'floor' || name === 'durable';
  const file = isFloor ? script('floor.ts') : isOurs(name) ? script('ours.ts') : peerScript(name);
  const child = fork(file, [JSON.stringify(settings)], {
    execArgv: ['-C', 'runwire', '--expose-gc'],
    stdio: ['ignore', log, log, 'ipc'],
  });
  closeSync(log);
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

/** Starts the scripted provider in its own process, which exits with the benchmark. */
export const startProvider = () => startHelper('provider.ts');

async function startHelper(file: string): Promise<{ readonly port: number; stop(): void }> {
  const child = fork(script(file), [], { execArgv: ['-C', 'runwire'], stdio: ['ignore', 2, 2, 'ipc'] });
  const { port } = await firstMessage<{ port: number }>(child);
  return { port, stop: () => child.disconnect() };
}

/**
 * The integrations count tokens, and every member has an allowance that the benchmark cannot exhaust. Idempotent, because a
 * server of another version has only its own benchmark's integrations.
 */
export async function prepareAccounts(url: string, apiKey: string, members: number): Promise<void> {
  const send = async (method: string, path: string, body: unknown) => {
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
    const answer = await fetch(`${url}${path}`, { method, headers, body: JSON.stringify(body) });
    const text = await answer.text();
    if (!answer.ok && answer.status !== CONFLICT)
      throw new Error(`${method} ${path} was answered by ${answer.status}: ${text}`);
  };
  const allowances = { unit: 'tokens', limit: 1_000_000, period: 'month' };
  for (const [apiIntegrationId, agency] of Object.entries({
    [INTEGRATION]: 'plain',
    [integrationFor(INTEGRATION, 'tools')]: 'tools',
    [integrationFor(INTEGRATION, 'team')]: 'demo',
  })) {
    await send('POST', '/v2/integrations', { apiIntegrationId, agency, name: 'Benchmark', allowances });
    for (let i = 0; i < members; i += 1) {
      const allowance = { limit: 1_000_000_000_000 };
      await send('PUT', `/v2/integrations/${apiIntegrationId}/members/${memberId(i)}`, { allowance });
    }
  }
}

/** Accepts every webhook. */
async function startReceiver(): Promise<Server> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(204).end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

async function addWebhook(url: string, apiKey: string, port: number): Promise<void> {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ url: `http://127.0.0.1:${port}/hook` });
  const answer = await fetch(`${url}/v2/integrations/${INTEGRATION}/webhooks`, { method: 'POST', headers, body });
  if (answer.status !== 201) throw new Error(`The webhook was answered by ${answer.status}: ${await answer.text()}`);
}

/** Runs the phases one after the other from one load generator. */
export async function load(contestant: Contestant, phases: readonly Phase[]): Promise<readonly PhaseResult[]> {
  const order: LoadOrder = { ...contestant.order, phases };
  const child = fork(script('load.ts'), [JSON.stringify(order)], {
    execArgv: ['-C', 'runwire'],
    stdio: ['ignore', 2, 2, 'ipc'],
  });
  const results: PhaseResult[] = [];
  child.on('message', async (message) => {
    if (message !== ASK_MEMORY) return void results.push(message as PhaseResult);
    contestant.process.send(ASK_MEMORY);
    child.send(await firstMessage<Memory>(contestant.process));
  });
  const [code] = await once(child, 'exit');
  if (code !== 0 || results.length !== phases.length) throw new Error('The load generator failed; see above.');
  return results;
}

export async function loadOne(contestant: Contestant, phase: Phase): Promise<PhaseResult> {
  const [result] = await load(contestant, [phase]);
  if (result === undefined) throw new Error(`The phase ${phase.name} has no result.`);
  return result;
}

export async function firstMessage<T>(child: ChildProcess): Promise<T> {
  const stop = new AbortController();
  const exited = once(child, 'exit', { signal: stop.signal }).then(([code]) => {
    throw new Error(`A server ended with ${code} before it answered.`);
  });
  try {
    const [message] = await Promise.race([once(child, 'message', { signal: stop.signal }), exited]);
    return message as T;
  } finally {
    stop.abort();
    exited.catch(() => {});
  }
}
