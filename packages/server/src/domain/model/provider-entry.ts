import type { ModelTraits, ProviderApi } from '@runwire/models';

/** Beside the agencies' folders. */
export const PROVIDERS_FILE = 'providers.yaml';

/** A provider in `providers.yaml`, checked, with its variables' values. */
export interface ProviderEntry {
  readonly api?: ProviderApi;
  /** Without a slash at its end. */
  readonly baseUrl?: string;
  readonly apiKey?: string;
  /** A package of the AI SDK, instead of a protocol. */
  readonly package?: string;
  /** What the package's `create…` function gets. */
  readonly options?: Readonly<Record<string, unknown>>;
  readonly models: ReadonlyMap<string, ModelTraits>;
}
