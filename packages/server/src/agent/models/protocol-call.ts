import type { ModelTraits } from '../../domain/providers.ts';
import type { ModelOutput } from '../ports.ts';
import type { ProviderTarget } from './provider-failure.ts';
import type { EventReader } from './provider-transport.ts';
import type { RequestBody } from './request-body.ts';

/** What a protocol needs to answer one call of a model. */
export interface ProtocolCall {
  /** `provider/model`. */
  readonly id: string;
  readonly provider: string;
  readonly target: ProviderTarget;
  readonly traits: ModelTraits;
  /** The base URL of the provider. */
  readonly address: string;
  readonly output: ModelOutput;
  /** Posts the body and resolves to the reader of the whole answer. */
  ask<R extends EventReader>(body: RequestBody, newReader: () => R): Promise<R>;
}
