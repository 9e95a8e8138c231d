import type { EventReader } from './answer-events.ts';
import type { ModelOutput } from './model.ts';
import type { ProviderTarget } from './provider-failure.ts';
import type { ModelTraits } from './providers.ts';
import type { BodyPrefixes, RequestBody } from './request-body.ts';

/** What a protocol knows of a model in all calls. */
export interface CalledModel {
  /** `provider/model`. */
  readonly id: string;
  readonly provider: string;
  readonly target: ProviderTarget;
  readonly traits: ModelTraits;
  /** The base URL of the provider. */
  readonly address: string;
  readonly prefixes: BodyPrefixes;
}

export type ReaderClass<R extends EventReader> = new (target: ProviderTarget, output: ModelOutput) => R;

/** What a protocol needs to answer one call of a model. */
export interface ProtocolCall {
  readonly model: CalledModel;
  readonly output: ModelOutput;
  /** Posts the body and resolves to the whole answer's reader. */
  ask<R extends EventReader>(body: RequestBody, readerClass: ReaderClass<R>): Promise<R>;
}
