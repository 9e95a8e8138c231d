import { ModelFailure } from '@runwire/models';
import type { RunErrorCode } from './run-state.ts';

/** A run cannot be completed. The message is the sentence for its reader. Failures of models are of the base class. */
export class RunFailure extends ModelFailure<RunErrorCode> {
  override readonly name: string = 'RunFailure';
}
