import type { ApiName } from '../../domain/account/compatible-apis.ts';
import type { Refusal } from '../../domain/refusal.ts';

/**
 * What differs between the compatible APIs before a run: the rest is in the request reader and in the encoder of each.
 * An API is a folder here; nothing of it is known outside.
 */
export interface CompatibleApi {
  readonly name: ApiName;
  /** The path of the API below its integration, such as `/openai/v1`. */
  readonly path: string;
  /** The field or header of this API that names the member, for the sentence of `missing_allowance_attribution`. */
  readonly memberField: string;
  /** The fields or headers of this API that hold the user context, for the refusal of a large context. */
  readonly contextField: string;
  /** The refusal as clients of this API expect it, such as `model_not_found` instead of `unknown_agent`. */
  readonly translate?: (refusal: Refusal) => Refusal;
  /** The error in the API's own shape. `ApiErrorResponse` if it is absent. */
  readonly errorBody?: (refusal: Refusal, status: number) => unknown;
  /** Further headers of an error. `hasNoRun` is false if the request has started a run, or may have. */
  readonly errorHeaders?: (refusal: Refusal, status: number, hasNoRun: boolean) => Record<string, string>;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The compatible API of a route. */
    compatible?: CompatibleApi;
    /** True if the route starts runs, so that each of its answers has the admitted header. */
    startsRuns?: boolean;
  }
}
