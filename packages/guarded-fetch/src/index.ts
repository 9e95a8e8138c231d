export { FetchFailed, type FetchFailedOptions, type FetchFailure, finalFailure } from './fetch-failed.ts';
export {
  type FetchedFile,
  type GuardedAnswer,
  GuardedFetcher,
  type GuardedFetchOptions,
  type PostAnswer,
  type PostGuarded,
} from './guarded-fetch.ts';
export type { DialTo, Network } from './network.ts';
export { realNetwork } from './real-network.ts';
export type { GuardedRequest } from './send-request.ts';
