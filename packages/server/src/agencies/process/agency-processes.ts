import type { AgencyVariables } from '../../domain/agency-variables.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { type ModuleFailure, OWN_SENTENCE } from '../module-failure.ts';
import { AgencyProcess, ProcessEnded, type ProcessFault } from './agency-process.ts';
import type { LoadAnswer, LoadQuestion } from './messages.ts';
import { ProcessGuard } from './process-guard.ts';
import { stripFiles } from './strip-files.ts';

/** How long the process itself may take to start. On a busy machine that is no fault of the code. */
const START_MS = 60_000;
export const LOAD_MS = 10_000;

export interface ProcessesOptions {
  readonly variables: AgencyVariables;
  /** `RUNWIRE_AGENCY_MEMORY_MIB`. */
  readonly memoryMib: number;
  /** How long a process's event loop may give no answer. */
  readonly silenceMs: number;
  /** The longest result of a tool that a model gets. */
  readonly resultCharacters: number;
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, 'agencyFaults'> | null;
}

/** Starts the agency processes. */
export class AgencyProcesses implements Disposable {
  readonly #options: ProcessesOptions;
  readonly #guard: ProcessGuard;

  constructor(options: ProcessesOptions) {
    this.#options = options;
    this.#guard = new ProcessGuard(options.logger);
  }

  start(agency: string, env: Readonly<Record<string, string>>): AgencyProcess {
    const { variables, memoryMib, silenceMs, logger, metrics } = this.#options;
    return new AgencyProcess({
      env: { ...variables.env, ...env },
      memoryMib,
      silenceMs,
      guard: this.#guard,
      onFault: ({ kind, message, stack, usedBy }) => {
        if (kind !== 'rejection') return;
        metrics?.agencyFaults.add({ agency, kind });
        const sentence = "a promise of an agency's code was rejected and nothing handled it; await it, or catch it";
        logger.error({ agency, ...usedBy, message, stack }, sentence);
      },
      onWithheld: (variable) => {
        const sentence = "an agency's code reads a variable that it does not get; pass it on with `env` in agency.yaml";
        logger.warn({ agency, variable }, sentence);
      },
    });
  }

  reportEnd(agency: string, { kind, message, usedBy }: ProcessFault): void {
    this.#options.metrics?.agencyFaults.add({ agency, kind });
    this.#options.logger.error({ agency, kind, ...usedBy, message }, 'the process of an agency ended');
  }

  /** Loads code. Ends the process if that takes too long. */
  async load(process: AgencyProcess, { folder, source }: Pick<LoadQuestion, 'folder' | 'source'>): Promise<LoadAnswer> {
    const { variables, resultCharacters } = this.#options;
    const { withheld } = variables;
    const { promise, resolve } = Promise.withResolvers<LoadAnswer>();
    const fail = (message: string) => resolve({ failure: ownSentence(message) });
    let timer = setTimeout(() => fail('The process that loads it did not start.'), START_MS);
    try {
      const files = source.kind === 'package' ? new Map() : stripFiles(folder);
      const answered = process.ask({ kind: 'ping' }).then(async () => {
        const stripped = await files;
        clearTimeout(timer);
        const late = `It did not load within ${LOAD_MS / 1000} seconds; remove what loops or waits.`;
        timer = setTimeout(() => fail(late), LOAD_MS);
        return process.ask({
          kind: 'load',
          folder,
          source,
          stripped,
          resultCharacters,
          withheld,
        }) as Promise<LoadAnswer>;
      });
      answered.then(resolve, (error: unknown) => {
        if (error instanceof ProcessEnded) fail(loadingSentence(error.fault));
        else fail(`Its process could not load it: ${String(error)}`);
      });
      const answer = await promise;
      if ('failure' in answer) process.end();
      return answer;
    } finally {
      clearTimeout(timer);
    }
  }

  [Symbol.dispose](): void {
    this.#guard[Symbol.dispose]();
  }
}

function loadingSentence({ kind, message }: ProcessFault): string {
  if (kind === 'exit') return 'It ended the process while it was loaded; remove `process.exit`.';
  return `It ended the process while it was loaded: ${message}`;
}

const ownSentence = (message: string): ModuleFailure => ({ message, code: OWN_SENTENCE, stack: '' });
