import type { FetchAllow, Range } from '@runwire/guarded-fetch/url-rules';
import type { ProviderApi } from '@runwire/models';
import type { AgencyVariables } from '../domain/agency-variables.ts';
import type { Prices } from '../domain/model/prices.ts';
import { StartRefused } from '../domain/start-refused.ts';
import type { Limits } from './limits.ts';

/** A setting that cannot be used. The message is printed and the process ends. */
export class SettingRefused extends StartRefused {
  override readonly name = 'SettingRefused';
}

/** The server's settings: checked, frozen, and without secrets. */
export interface Config {
  readonly host: string;
  readonly port: number;
  readonly dataDir: string;
  readonly publicUrl: string | null;
  readonly stagingUrl: string | null;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error' | 'silent';
  readonly limits: Limits;
  /** `provider/model`, for agencies that name no model. */
  readonly model: string;
  /** The providers whose models can be used. */
  readonly providers: readonly ProviderConfig[];
  /** PostgreSQL; null for the embedded store. */
  readonly database: DatabaseConfig | null;
  /** S3 for files; null if files are on disk, in the data folder. */
  readonly s3: S3Config | null;
  /** The listener that serves metrics without a key; null if only the main listener serves them, with a key. */
  readonly metrics: MetricsConfig | null;
  /** Each model's price in credits. */
  readonly prices: Prices;
  /** Hosts other than the public internet from which files may be fetched. */
  readonly fetchAllow: FetchAllow;
  /** Receivers of webhooks that are not public. */
  readonly webhookAllow: FetchAllow;
  /** The proxies whose `X-Forwarded-For` names the client. */
  readonly trustedProxies: readonly Range[];
  /** The folder of agencies; null if there is none. */
  readonly agenciesDir: string | null;
  /** True if changes in that folder are loaded while the server runs. */
  readonly agenciesWatch: boolean;
  readonly sandbox: SandboxConfig;
  /** Null if traces are off. */
  readonly tracing: TracingConfig | null;
  /** The integration that the first start creates on the same name's agency; null if none. */
  readonly integration: string | null;
}

export interface TracingConfig {
  /** Spans are posted to it. */
  readonly url: string;
  /** As `OTEL_TRACES_SAMPLER` names it. */
  readonly sampler: string;
  /** The part of the traces that the ratio samplers keep. */
  readonly ratio: number;
  /** True if texts, arguments, results and the ids of members are exported. */
  readonly hasContent: boolean;
}

export interface SandboxConfig {
  readonly kind: 'auto' | 'bubblewrap' | 'just-bash' | 'exec' | 'off';
  /** The absolute path of the program of `exec`; otherwise null. */
  readonly program: string | null;
  /** How many commands may run concurrently on this node. */
  readonly slots: number;
}

export interface MetricsConfig {
  readonly host: string;
  readonly port: number;
}

export interface ProviderConfig {
  /** The first part of the ids of its models. */
  readonly name: string;
  readonly api: ProviderApi;
  /** Without a slash at its end. */
  readonly baseUrl: string;
  /** False if no setting names the provider, which needs none. */
  readonly isSet: boolean;
}

export interface DatabaseConfig {
  /** Host and database, for people. */
  readonly location: string;
  /** The number of connections, without the writer's. */
  readonly pool: number;
  /** True if connections go through a pooler in transaction mode. */
  readonly pooled: boolean;
}

export interface S3Config {
  readonly bucket: string;
  /** Without a slash at its end; null for Amazon S3. */
  readonly endpoint: string | null;
  readonly region: string;
  /** `direct` if clients send upload forms to S3, `through` if they send them to this server. */
  readonly uploads: 'direct' | 'through';
}

export interface Secrets {
  /** `RUNWIRE_SECRET`; null if it is not set, and a secret in the data folder or in the database is used. */
  readonly secret: string | null;
  /** The hash of `RUNWIRE_API_KEY`; null if it is not set. */
  readonly apiKeyHash: Buffer | null;
  /** `DATABASE_URL`; null if it is not set. */
  readonly databaseUrl: string | null;
  /** `OPENAI_API_KEY` and the like, by the provider's name. */
  readonly providerKeys: ReadonlyMap<string, string>;
  /** Reads a variable that `providers.yaml` or `mcp` of an agency names, or that MCP servers get. Returns null if it is not set. */
  readonly variable: (name: string) => string | null;
  /** The environment of the agency processes. */
  readonly agencyVariables: (usesS3: boolean) => AgencyVariables;
}
