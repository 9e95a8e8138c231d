import type { SandboxFile } from '@runwire/contract';
import * as routes from '@runwire/contract/routes';
import { type ApiKey, Credentials } from './credentials.ts';
import { type Api, createApi } from './resources.ts';
import { type AttachOptions, type ReadOptions, Run, type RunOptions, type StartRoute } from './run.ts';
import type { EvaluateRequest, RunAgainRequest, RunHandle, RunRequest } from './run-types.ts';
import { DEFAULT_TIMING, type Timing } from './timing.ts';
import { type Fetch, Transport } from './transport.ts';
import { type UploadOptions, upload } from './upload.ts';

export interface RunwireOptions {
  /** The server's address, for example `http://127.0.0.1:8787`. */
  readonly baseUrl: string;
  /** An API key, or a function that returns a client token. A function is asked again shortly before the token ends. */
  readonly apiKey: ApiKey;
  /** The integration of every request that names no other. A client token names it itself. */
  readonly integration?: string | undefined;
  /** Another `fetch`, for example with a proxy. */
  readonly fetch?: Fetch;
  /** Other limits than the default ones. */
  readonly timing?: Partial<Timing>;
}

export interface Runwire extends Api {}

/** A client of one Runwire server. */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the constructor assigns every resource.
export class Runwire {
  readonly #transport: Transport;

  constructor({ baseUrl, apiKey, integration, fetch = globalThis.fetch, timing }: RunwireOptions) {
    const limits = { ...DEFAULT_TIMING, ...timing };
    this.#transport = new Transport(baseUrl, new Credentials(apiKey), { integration, fetch, timing: limits });
    Object.assign(this, createApi(this.#transport));
  }

  /** Starts a run immediately. It runs once, however often connections break. */
  run(request: RunRequest, options?: RunOptions): Run {
    return this.#start(request, options);
  }

  /** Runs a run again, also from one of its steps on. The rerun is read like any run. */
  rerun(request: RunAgainRequest, options?: ReadOptions): Run {
    return this.#start(request, options, routes.rerunRun);
  }

  /** Starts a run for an eval: its calls get given outcomes. It is read like any run. */
  evaluate(request: EvaluateRequest, options?: ReadOptions): Run {
    return this.#start(request, options, routes.runEval);
  }

  #start(request: RunRequest | RunAgainRequest | EvaluateRequest, options: RunOptions = {}, route?: StartRoute): Run {
    // The server ignores a blank id, so a run with it could not be found again.
    const usageRequestId = request.usageRequestId?.trim() ? request.usageRequestId : newId();
    const place = {
      ...{ apiIntegrationId: request.apiIntegrationId ?? null, usageRequestId },
      ...{ runId: null, chatId: (request as RunRequest).chatId ?? null, lastEventId: 0 },
    };
    return new Run(this.#transport, place, { ...request, usageRequestId } as typeof request, options, route);
  }

  /** Reads a run that was started before, from its start, during the run or after it. */
  attach(handle: RunHandle, { after = 0, ...options }: AttachOptions = {}): Run {
    return new Run(this.#transport, { ...handle, lastEventId: after }, null, options);
  }

  /** Uploads a file. Pass the result in `sandboxFiles` of a run. */
  upload(file: Blob, options: UploadOptions): Promise<SandboxFile> {
    return upload(this.#transport, file, options);
  }
}

/** 144 random bits. Pages without https have no `randomUUID`. */
const newId = () => btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(18))));
