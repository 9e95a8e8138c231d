import { type DatabaseConfig, SettingRefused } from './config.ts';
import type { ReadSetting } from './read-network.ts';

/** Parameters that the address may have. */
const PARAMETERS = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'sslnegotiation', 'host', 'options', 'pgbouncer'];
/** The driver treats the other modes as `verify-full` and warns. */
const SSL_MODES = ['disable', 'require', 'verify-full', 'no-verify'];
const DEFAULT_POOL = 8;
const MAX_POOL = 200;
const EXAMPLE = 'postgres://user:password@db.example.com:5432/runwire';

export interface DatabaseSettings {
  readonly database: DatabaseConfig | null;
  /** Contains the password, so it is never printed. */
  readonly databaseUrl: string | null;
}

/** `DATABASE_URL` and `RUNWIRE_DATABASE_POOL`. */
export function readDatabase(read: ReadSetting): DatabaseSettings {
  const text = read('DATABASE_URL');
  const pool = readPool(read);
  if (text === null) {
    if (pool === null) return { database: null, databaseUrl: null };
    throw new SettingRefused('RUNWIRE_DATABASE_POOL is set but DATABASE_URL is not; set both, or unset it.');
  }
  const url = URL.parse(text);
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol)) {
    throw new SettingRefused(`DATABASE_URL must be a PostgreSQL address, such as ${EXAMPLE}.`);
  }
  const name = decode(url.pathname.slice(1));
  const host = url.searchParams.get('host') ?? decode(url.hostname);
  if (name === '' || name.includes('/') || host === '') {
    throw new SettingRefused(`DATABASE_URL must be an address with a host and a database, such as ${EXAMPLE}.`);
  }
  const unknown = [...url.searchParams.keys()].find((key) => !PARAMETERS.includes(key));
  if (unknown !== undefined) {
    throw new SettingRefused(
      `DATABASE_URL has the unknown parameter \`${unknown}\`; use only these: ${PARAMETERS.join(', ')}.`,
    );
  }
  const sslMode = url.searchParams.get('sslmode');
  if (sslMode !== null && !SSL_MODES.includes(sslMode)) {
    throw new SettingRefused(`DATABASE_URL has an unknown \`sslmode\`; set it to one of ${SSL_MODES.join(', ')}.`);
  }
  const pooled = url.searchParams.get('pgbouncer');
  if (pooled !== null && pooled !== 'true') {
    throw new SettingRefused('DATABASE_URL has a `pgbouncer` that is not true; set it to true, or remove it.');
  }
  url.searchParams.delete('pgbouncer');
  // `require` asks only for encryption. Without a check of the certificate that is not safe, so it is checked too.
  if (sslMode === 'require') url.searchParams.set('sslmode', 'verify-full');
  const location = `${host}${url.port === '' ? '' : `:${url.port}`}/${name}`;
  return {
    database: Object.freeze({ location, pool: pool ?? DEFAULT_POOL, pooled: pooled !== null }),
    databaseUrl: url.href,
  };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

function readPool(read: ReadSetting): number | null {
  const text = read('RUNWIRE_DATABASE_POOL');
  if (text === null) return null;
  const value = Number(text);
  if (!/^\d{1,3}$/.test(text) || value < 1 || value > MAX_POOL) {
    throw new SettingRefused(`RUNWIRE_DATABASE_POOL is \`${text}\`; set it to a whole number from 1 to ${MAX_POOL}.`);
  }
  return value;
}
