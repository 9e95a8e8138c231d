import { randomBytes } from 'node:crypto';
import { accessSync, constants, existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { hasDiskSpace, isDiskFull } from '@runwire/lib/disk-full.ts';
import { faultLine } from '../agencies/fault.ts';
import { checkPrograms } from '../compose/check-programs.ts';
import { chooseSandbox } from '../compose/choose-sandbox.ts';
import { OpenedModels } from '../compose/open-models.ts';
import { openProcesses } from '../compose/open-processes.ts';
import { postgresParts } from '../compose/open-store.ts';
import { isAnswering, tryModel } from '../compose/try-model.ts';
import type { Config, Secrets } from '../config/config.ts';
import { dataFolder } from '../config/data-folder.ts';
import { type Environment, prepareProcess } from '../config/read-config.ts';
import { PROVIDERS_FILE } from '../domain/model/provider-entry.ts';
import { DiskFull } from '../domain/unavailable.ts';
import { newFileBlobKey } from '../storage/blob-store.ts';
import { DiskBlobStore } from '../storage/disk/disk-blob-store.ts';
import { S3Bucket } from '../storage/s3/s3-bucket.ts';
import { startSentence } from '../storage/s3/s3-errors.ts';
import { createLogger } from '../telemetry/logger.ts';
import { type InspectionParts, inspectAgencies } from './inspect-agencies.ts';
import { postgresSettings } from './installation.ts';
import { openInstalledStore } from './open-installed-store.ts';

export type CheckName = 'settings' | 'store' | 'files' | 'providers' | 'model' | 'sandbox' | 'agencies' | 'mcp';

/** The result of one check of an installation. */
export interface CheckResult {
  readonly check: CheckName;
  /** What was checked, for people. */
  readonly about: string;
  /** What is wrong and what to do, in one sentence. Null if nothing is wrong. */
  readonly finding: string | null;
}

const MODEL_MS = 60_000;

/** Checks what a server with these settings would use. Servers may be running. */
export async function diagnose(env: Environment): Promise<CheckResult[]> {
  let settings: { readonly config: Config; readonly secrets: Secrets };
  try {
    settings = prepareProcess(env);
  } catch (error) {
    return [{ check: 'settings', about: 'environment variables', finding: toSentence(error) }];
  }
  const { config, secrets } = settings;
  const { limits } = config;
  const logger = createLogger('silent');
  using processes = openProcesses(config, secrets, { limits, logger, metrics: null });
  await using models = new OpenedModels(config, secrets, { limits, logger, processes });
  await models.load();
  return [
    { check: 'settings', about: 'environment variables', finding: null },
    await result('store', storePlace(config), () => checkStore(config, secrets)),
    await result('files', filesLocation(config), () => checkFiles(config)),
    ...providerResults(config, models),
    await result('model', config.model, () => checkModel(config, models)),
    await result('sandbox', config.sandbox.kind, () => checkSandbox(config)),
    ...(config.agenciesDir === null
      ? []
      : await agencyResults(config.agenciesDir, config, secrets, { models, processes })),
  ];
}

async function result(check: CheckName, about: string, run: () => Promise<void>): Promise<CheckResult> {
  try {
    await run();
    return { check, about, finding: null };
  } catch (error) {
    return { check, about, finding: toSentence(error) };
  }
}

function toSentence(error: unknown): string {
  if (isDiskFull(error)) return new DiskFull().message;
  return error instanceof Error ? error.message : String(error);
}

const storePlace = ({ database, dataDir }: Config): string =>
  database === null ? `SQLite in ${dataDir}` : `PostgreSQL at ${database.location}`;

const filesLocation = ({ s3, dataDir }: Config): string => (s3 === null ? dataDir : `the bucket ${s3.bucket}`);

/** A store without an installation is right: the first start makes it. */
async function checkStore(config: Config, secrets: Secrets): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const settings = postgresSettings(config, secrets);
  if (settings !== null) {
    const { PostgresStore } = await postgresParts();
    const store = stack.use(await PostgresStore.open({ ...settings, pool: 1, migrate: false, waitAt: undefined }));
    await store.installation();
    return;
  }
  checkFolder(config.dataDir);
  if (existsSync(dataFolder(config.dataDir).database)) await openInstalledStore(config, secrets, stack);
}

/** The folder, or the folder above in which the first start makes it, must be writable and have space. */
function checkFolder(dataDir: string): void {
  let folder = dataDir;
  while (!existsSync(folder)) folder = dirname(folder);
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch {
    throw new Error(
      `The data folder ${dataDir} cannot be written; give this user the right to write ${folder}, or set RUNWIRE_DATA_DIR to another folder.`,
    );
  }
  if (!hasDiskSpace(folder)) throw new DiskFull();
}

/** Writes, reads and deletes a small file. */
async function checkFiles({ s3, dataDir, limits }: Config): Promise<void> {
  const bytes = randomBytes(64);
  if (s3 === null) {
    const { blobs: folder } = dataFolder(dataDir);
    if (!existsSync(folder)) return checkFolder(dataDir);
    const blobs = await DiskBlobStore.open(folder);
    const key = newFileBlobKey();
    try {
      await blobs.put(key, bytes);
      await blobs.read(key);
    } finally {
      await blobs.delete(key);
    }
    return;
  }
  using bucket = await S3Bucket.of(s3, limits);
  const key = `doctor/${newFileBlobKey()}`;
  try {
    await bucket.put(key, { bytes: () => bytes, length: bytes.length, contentType: 'application/octet-stream' });
    // Deletes the object also if it cannot be read.
    await bucket.get(key).finally(() => bucket.delete(key));
  } catch (error) {
    throw startSentence(error, s3);
  }
}

/** None if there is no folder that could have the file. */
function providerResults({ agenciesDir }: Config, { faults }: OpenedModels): CheckResult[] {
  if (agenciesDir === null) return [];
  const about = join(agenciesDir, PROVIDERS_FILE);
  if (faults.length > 0) return faults.map((fault) => ({ check: 'providers', about, finding: faultLine(fault) }));
  return existsSync(about) ? [{ check: 'providers', about, finding: null }] : [];
}

async function checkModel({ model: id }: Config, models: OpenedModels): Promise<void> {
  const model = models.find(id);
  if (model === null) throw new Error(models.problem(id) ?? `No provider has the model ${id}.`);
  try {
    await tryModel(model, AbortSignal.timeout(MODEL_MS));
  } catch (error) {
    const other = await models.withOtherProtocol(id);
    const isAnswered = other !== null && (await isAnswering(other.model, AbortSignal.timeout(MODEL_MS)));
    if (!isAnswered) throw error;
    throw new Error(`${toSentence(error)} The server answered with the other protocol: set ${other.setting}.`);
  }
}

/** One result per agency, and one per program that an MCP server of an agency needs. */
async function agencyResults(
  folder: string,
  config: Config,
  secrets: Secrets,
  parts: InspectionParts,
): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  for (const { id, loaded, faults } of await inspectAgencies(folder, config, secrets, parts)) {
    const [fault, ...others] = faults;
    const more = others.length === 0 ? '' : ` (${others.length} more; \`runwire agencies check\` prints them)`;
    const finding = fault === undefined ? null : `${id}/${faultLine(fault)}${more}`;
    results.push({ check: 'agencies', about: id, finding });
    for (const { server, command, problem } of loaded === null ? [] : checkPrograms(loaded, secrets)) {
      results.push({ check: 'mcp', about: `${server} of ${id}: ${command}`, finding: problem });
    }
  }
  return results;
}

async function checkSandbox({ sandbox }: Config): Promise<void> {
  const { info, reason } = await chooseSandbox(sandbox);
  if (info.kind !== 'off' || reason === null) return;
  throw new Error(
    `Agents cannot run commands: ${reason}; allow user namespaces and install bubblewrap, or set RUNWIRE_SANDBOX to off.`,
  );
}
