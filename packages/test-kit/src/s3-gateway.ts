import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { S3Client } from '@aws-sdk/client-s3';
import { freePort } from './free-port.ts';

const run = promisify(execFile);
const UP_MS = 120_000;
/** A gateway whose object store has ended accepts requests and never answers them. */
const ANSWER_MS = 30_000;
const BIN = '/usr/bin';
const PROGRAMS = ['radosgw', 'radosgw-admin', 'ceph-mon', 'ceph-osd', 'ceph', 'monmaptool', 'setpriv'];

export const hasS3Gateway = (): boolean => PROGRAMS.every((name) => existsSync(join(BIN, name)));

/** The address and the credentials of an S3 server. */
export interface S3Access {
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** The version that the gateway itself reports. */
  readonly version: string;
}

/** Everything is in memory and on this machine. Only the gateway itself asks for credentials. */
function settings(folder: string, monitorPort: number, gatewayPort: number): string {
  const all: Record<string, string | number | boolean> = {
    fsid: randomUUID(),
    mon_host: `v2:127.0.0.1:${monitorPort}`,
    mon_initial_members: 'a',
    public_addr: '127.0.0.1',
    ms_bind_ipv6: false,
    mon_data: join(folder, 'mon'),
    osd_data: join(folder, 'osd'),
    run_dir: folder,
    log_file: join(folder, '$name.log'),
    mon_cluster_log_file: join(folder, 'cluster.log'),
    crash_dir: folder,
    admin_socket: '',
    mon_allow_pool_size_one: true,
    mon_max_pg_per_osd: 1000,
    osd_objectstore: 'memstore',
    memstore_device_bytes: 8 * 1024 ** 3,
    osd_crush_chooseleaf_type: 0,
    osd_pool_default_size: 1,
    osd_pool_default_min_size: 1,
    osd_pool_default_pg_num: 1,
    osd_pool_default_pg_autoscale_mode: 'off',
    rgw_frontends: `beast endpoint=127.0.0.1:${gatewayPort}`,
    rgw_thread_pool_size: 64,
    rgw_dynamic_resharding: false,
    rgw_enable_usage_log: false,
    rgw_enable_ops_log: false,
  };
  for (const who of ['cluster', 'service', 'client']) {
    all[`auth_${who}_required`] = 'none';
    all[`ms_${who}_mode`] = 'crc';
    all[`ms_mon_${who}_mode`] = 'crc';
  }
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`);
  return `[global]\n${lines.join('\n')}\n`;
}

/**
 * A real S3 for tests: Ceph's gateway over one monitor and one object store. It ends with the process that started it.
 */
export class S3Gateway implements S3Access, AsyncDisposable {
  readonly endpoint: string;
  readonly region = 'us-east-1';
  readonly accessKeyId = 'runwire-tests';
  readonly secretAccessKey = randomBytes(20).toString('hex');
  version = '';
  readonly #folder: string;
  readonly #children: ChildProcess[] = [];

  private constructor(folder: string, port: number) {
    this.#folder = folder;
    this.endpoint = `http://127.0.0.1:${port}`;
  }

  static async start(): Promise<S3Gateway> {
    if (!hasS3Gateway()) {
      throw new Error(
        'Ceph is not installed; get it with: apt-get install -y --no-install-recommends radosgw ceph-mon ceph-osd',
      );
    }
    const folder = mkdtempSync(join(tmpdir(), 'runwire-s3-'));
    const [monitorPort, gatewayPort] = [await freePort(), await freePort()];
    const gateway = new S3Gateway(folder, gatewayPort);
    try {
      await gateway.#start(monitorPort, gatewayPort);
    } catch (error) {
      await gateway[Symbol.asyncDispose]();
      throw error;
    }
    return gateway;
  }

  async #start(monitorPort: number, gatewayPort: number): Promise<void> {
    const text = settings(this.#folder, monitorPort, gatewayPort);
    writeFileSync(join(this.#folder, 'ceph.conf'), text);
    for (const name of ['mon', 'osd']) mkdirSync(join(this.#folder, name));
    const [fsid = ''] = /(?<=^fsid = ).+$/m.exec(text) ?? [];
    const map = join(this.#folder, 'monmap');
    const monitor = `[v2:127.0.0.1:${monitorPort}]`;
    await this.#run('monmaptool', '--create', '--addv', 'a', monitor, '--fsid', fsid, map);
    await this.#run('ceph-mon', '-i', 'a', '--mkfs', '--monmap', map);
    this.#spawn('ceph-mon', '-i', 'a');
    const uuid = randomUUID();
    await this.#run('ceph', '--connect-timeout', '60', 'osd', 'new', uuid);
    await this.#run('ceph-osd', '-i', '0', '--mkfs', '--osd-uuid', uuid);
    this.#spawn('ceph-osd', '-i', '0');
    this.#spawn('radosgw', '-n', 'client.admin');
    const keys = ['--access-key', this.accessKeyId, '--secret-key', this.secretAccessKey];
    await this.#run('radosgw-admin', 'user', 'create', '--uid', 'tests', '--display-name', 'Tests', ...keys);
    this.version = (await this.#run('radosgw', '--version')).trim();
    await this.#answers();
  }

  async #run(program: string, ...args: readonly string[]): Promise<string> {
    const { stdout } = await run(join(BIN, program), ['-c', join(this.#folder, 'ceph.conf'), ...args], {
      cwd: this.#folder,
      timeout: UP_MS,
      killSignal: 'SIGKILL',
    });
    return stdout;
  }

  /** The kernel ends it when its parent dies. */
  #spawn(program: string, ...args: readonly string[]): void {
    const whole = [join(BIN, program), '-f', '-c', join(this.#folder, 'ceph.conf'), ...args];
    const child = spawn(join(BIN, 'setpriv'), ['--pdeathsig', 'KILL', '--', ...whole], {
      cwd: this.#folder,
      stdio: 'ignore',
    });
    this.#children.push(child);
  }

  async #answers(): Promise<void> {
    for (const until = performance.now() + UP_MS; ; await sleep(100)) {
      const dead = this.#children.find(({ exitCode, signalCode }) => exitCode !== null || signalCode !== null);
      if (dead !== undefined) throw new Error(`${dead.spawnargs.join(' ')} ended at its start.\n${this.#logs()}`);
      const answer = await fetch(this.endpoint, { signal: AbortSignal.timeout(ANSWER_MS) }).catch(() => null);
      await answer?.body?.cancel();
      if (answer !== null && answer.status < 500) return;
      if (performance.now() > until) throw new Error(`The S3 gateway did not come up.\n${this.#logs()}`);
    }
  }

  #logs(): string {
    const names = ['mon.a', 'osd.0', 'client.admin'].map((name) => join(this.#folder, `${name}.log`));
    return names
      .filter((name) => existsSync(name))
      .map((name) => readFileSync(name, 'utf8').slice(-1000))
      .join('\n');
  }

  makeBucket(name?: string): Promise<string> {
    return makeBucket(this, name);
  }

  /** Its data is not needed, so it is killed without a shutdown. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#children.toReversed()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await gone;
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

let own: Promise<S3Gateway> | null = null;

/** Returns the gateway that the gate started; otherwise a gateway of this process, which ends with it. */
export async function sharedS3(): Promise<S3Access> {
  const given = process.env.TEST_S3;
  if (given !== undefined && given !== '') return JSON.parse(given) as S3Access;
  own ??= S3Gateway.start();
  return await own;
}

/** Ends this process's gateway, if there is one. If this process is killed, the gateway ends with it. */
export async function stopOwnS3(): Promise<void> {
  const gateway = own;
  own = null;
  await (await gateway)?.[Symbol.asyncDispose]();
}

/** For `TEST_S3`, by which other processes find the gateway. */
export function s3Environment({ endpoint, region, accessKeyId, secretAccessKey, version }: S3Access): string {
  return JSON.stringify({ endpoint, region, accessKeyId, secretAccessKey, version });
}

/** The settings of a server that keeps its files in its own bucket. */
export async function s3Settings(access: S3Access, more: Readonly<Record<string, string>> = {}) {
  useS3Credentials(access);
  const { endpoint, region, accessKeyId, secretAccessKey } = access;
  return {
    S3_BUCKET: more.S3_BUCKET ?? (await makeBucket(access)),
    S3_ENDPOINT: endpoint,
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_EC2_METADATA_DISABLED: 'true',
    ...more,
  };
}

/** The SDK's client, for changes to a bucket that the server does not know of. */
export async function s3Client(
  { endpoint, region, accessKeyId, secretAccessKey }: S3Access,
  answerMs = ANSWER_MS,
): Promise<S3Client> {
  const { S3Client: Client } = await import('@aws-sdk/client-s3');
  return new Client({
    endpoint,
    region,
    credentials: { accessKeyId, secretAccessKey },
    forcePathStyle: true,
    requestHandler: { requestTimeout: answerMs, throwOnRequestTimeout: true },
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
}

/** An empty bucket, by default with a name of its own; resolves to its name. */
export async function makeBucket(at: S3Access, name = `test-${randomBytes(8).toString('hex')}`): Promise<string> {
  const { CreateBucketCommand } = await import('@aws-sdk/client-s3');
  const client = await s3Client(at);
  try {
    await client.send(new CreateBucketCommand({ Bucket: name }));
  } finally {
    client.destroy();
  }
  return name;
}

/** The SDK reads credentials from the environment of its process. */
export function useS3Credentials({ accessKeyId, secretAccessKey }: S3Access): void {
  process.env.AWS_ACCESS_KEY_ID = accessKeyId;
  process.env.AWS_SECRET_ACCESS_KEY = secretAccessKey;
}
