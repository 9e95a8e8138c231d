import { hash } from 'node:crypto';
import { resolve } from 'node:path';
import { agencyVariables } from '../domain/agency-variables.ts';
import { NO_PRICES } from '../domain/model/prices.ts';
import { comparedFields, nearestField } from '../domain/unknown-fields.ts';
import { type Config, type Secrets, SettingRefused } from './config.ts';
import { isKubernetesVariable } from './kubernetes-variables.ts';
import { LIMIT_SETTINGS } from './limits.ts';
import { hasProvidersFile, readAgencies } from './read-agencies.ts';
import { readDatabase } from './read-database.ts';
import { readFiles } from './read-files.ts';
import { readLimits } from './read-limits.ts';
import { readModels } from './read-models.ts';
import {
  readFetchAllow,
  readMetrics,
  readPort,
  readTrustedProxies,
  readUrl,
  readWebhookAllow,
} from './read-network.ts';
import { readPrices } from './read-prices.ts';
import { readSandbox } from './read-sandbox.ts';
import { readTracing } from './read-tracing.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface CheckedSettings {
  readonly config: Config;
  readonly secrets: Secrets;
}

const KNOWN = new Set([
  'RUNWIRE_AGENCIES_DIR',
  'RUNWIRE_AGENCIES_WATCH',
  'RUNWIRE_DATA_DIR',
  'RUNWIRE_PUBLIC_URL',
  'RUNWIRE_STAGING_URL',
  'RUNWIRE_API_KEY',
  'RUNWIRE_SECRET',
  'RUNWIRE_LOG_LEVEL',
  'RUNWIRE_MODEL',
  'RUNWIRE_OPENAI_API',
  'RUNWIRE_DATABASE_POOL',
  'RUNWIRE_METRICS_PORT',
  'RUNWIRE_METRICS_HOST',
  ...LIMIT_SETTINGS.map(({ setting }) => setting),
  'RUNWIRE_PRICES',
  'RUNWIRE_FETCH_ALLOW',
  'RUNWIRE_WEBHOOK_ALLOW',
  'RUNWIRE_TRUSTED_PROXIES',
  'RUNWIRE_SANDBOX',
  'RUNWIRE_SANDBOX_SLOTS',
  'RUNWIRE_INTEGRATION',
  'RUNWIRE_TRACE_CONTENT',
  // The command line reads it. A shell that has it can start a server too.
  'RUNWIRE_URL',
]);

const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
const MIN_SECRET_CHARACTERS = 32;

/**
 * Reads the settings, and sets the umask: no other user of the machine can read what this process writes, even in a
 * folder that others may enter (`contract-1-umask`).
 */
export function prepareProcess(env: Environment): CheckedSettings {
  process.umask(0o077);
  return readConfig(env);
}

/**
 * Reads values one by one and keeps no copy of the environment: `RUNWIRE_API_KEY` may stay in memory only as its hash.
 */
export function readConfig(env: Environment): CheckedSettings {
  for (const name of Object.keys(env)) {
    if (name.startsWith('RUNWIRE_') && !KNOWN.has(name) && !isInjected(env, name)) {
      throw new SettingRefused(`${name} is not a setting of Runwire; ${adviceFor(name)}, or unset it.`);
    }
  }
  const apiKey = readApiKey(env);
  const read = (name: string) => (isSet(env, name) ? String(env[name]) : null);
  const agencies = readAgencies(read);
  const { model, providers, providerKeys } = readModels(read, {
    hasFile: hasProvidersFile(agencies.agenciesDir),
    hasFolder: agencies.agenciesDir !== null,
  });
  const { database, databaseUrl } = readDatabase(read);
  const port = readPort('PORT', read('PORT') ?? '8787');
  const config: Config = Object.freeze({
    host: isSet(env, 'HOST') ? String(env.HOST) : '127.0.0.1',
    port,
    dataDir: resolve(isSet(env, 'RUNWIRE_DATA_DIR') ? String(env.RUNWIRE_DATA_DIR) : '.runwire'),
    publicUrl: readUrl(read, 'RUNWIRE_PUBLIC_URL'),
    stagingUrl: readUrl(read, 'RUNWIRE_STAGING_URL'),
    logLevel: readLogLevel(env),
    limits: readLimits(env),
    model,
    providers,
    database,
    s3: readFiles(read, readUrl(read, 'S3_ENDPOINT')),
    metrics: readMetrics(read, port),
    prices: isSet(env, 'RUNWIRE_PRICES') ? readPrices(String(env.RUNWIRE_PRICES)) : NO_PRICES,
    fetchAllow: readFetchAllow(read),
    webhookAllow: readWebhookAllow(read),
    trustedProxies: readTrustedProxies(read),
    sandbox: readSandbox(read),
    tracing: readTracing(read),
    integration: read('RUNWIRE_INTEGRATION'),
    ...agencies,
  });
  return {
    config,
    secrets: {
      secret: readSecret(env),
      apiKeyHash: apiKey === null ? null : hash('sha256', apiKey, 'buffer'),
      databaseUrl,
      providerKeys,
      variable: read,
      agencyVariables: (usesS3) => agencyVariables(env, usesS3),
    },
  };
}

/** An empty value counts as not set, as in `PORT= npm start`. */
function isSet(env: Environment, name: string): boolean {
  return env[name] !== undefined && env[name] !== '' && !isInjected(env, name);
}

function isInjected(env: Environment, name: string): boolean {
  return isKubernetesVariable(name, env[name] ?? '');
}

function readLogLevel(env: Environment): Config['logLevel'] {
  if (!isSet(env, 'RUNWIRE_LOG_LEVEL')) return 'info';
  const level = LOG_LEVELS.find((known) => known === env.RUNWIRE_LOG_LEVEL);
  if (level === undefined) throw new SettingRefused(`RUNWIRE_LOG_LEVEL must be one of ${LOG_LEVELS.join(', ')}.`);
  return level;
}

function readApiKey(env: Environment): string | null {
  if (!isSet(env, 'RUNWIRE_API_KEY')) return null;
  const key = String(env.RUNWIRE_API_KEY);
  if ([...key].length < MIN_SECRET_CHARACTERS) {
    throw new SettingRefused(`RUNWIRE_API_KEY is too short; set it to ${MIN_SECRET_CHARACTERS} characters or more.`);
  }
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new SettingRefused(
      'RUNWIRE_API_KEY must contain only visible ASCII characters, because HTTP clients cannot send others.',
    );
  }
  return key;
}

function readSecret(env: Environment): string | null {
  if (!isSet(env, 'RUNWIRE_SECRET')) return null;
  const secret = String(env.RUNWIRE_SECRET);
  if (Buffer.byteLength(secret) < MIN_SECRET_CHARACTERS) {
    throw new SettingRefused(`RUNWIRE_SECRET is too short; set it to ${MIN_SECRET_CHARACTERS} bytes or more.`);
  }
  return secret;
}

/** Tells which settings were probably meant: the one with almost the same spelling, or all that continue the name. */
function adviceFor(name: string): string {
  const near = nearestField(name, comparedFields(KNOWN));
  const meant = near === null ? [...KNOWN].filter((setting) => setting.startsWith(`${name}_`)) : [near];
  return meant.length === 0 ? 'check its spelling' : `write ${meant.join(' or ')}`;
}
