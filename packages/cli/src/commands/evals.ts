import { writeFile } from 'node:fs/promises';
import type { CliCommand, Context, Environment } from '../command.ts';
import { repeated, wholeNumber } from '../command.ts';
import { connectToIntegration, type IntegrationOptions } from '../connection.ts';
import type { CaseResult } from '../evals/case-result.ts';
import type { EvalSuite } from '../evals/eval-case.ts';
import { EXIT, UsageError } from '../exit-codes.ts';
import { leave, onInterrupt } from '../interrupts.ts';
import { note, printJson, visible } from '../output.ts';
import { ProgressBar } from '../progress-bar.ts';

interface RunOptions extends IntegrationOptions {
  readonly case?: string;
  readonly model?: readonly string[];
  readonly repeat?: number;
  readonly parallel: number;
  readonly junit?: string;
  readonly html?: string;
  readonly json?: true;
}

const DEFAULT_PARALLEL = 4;
const MAX_PARALLEL = 32;
const MAX_REPEATS = 100;

export function addEvalCommands(program: CliCommand, context: Context): void {
  const evals = program.command('evals').explain({ summary: 'run the evals of agencies, and record cases from runs' });
  addRunCommand(evals, context);
}

function addRunCommand(evals: CliCommand, { env }: Context): void {
  evals
    .command('run')
    .explain({
      summary: 'run the cases in evals/*.yaml, and check what agents did',
      details: [
        'Without --url it starts a server of its own, with the agencies of RUNWIRE_AGENCIES_DIR and the provider keys of the environment. Its data is deleted at the end. Without RUNWIRE_AGENCIES_DIR it runs the evals of the demo agency.',
        'Tools are not called, unless they may be repeated: calls get the outcomes in the files.',
        `Exit code 0: every case passed. ${EXIT.failed}: a case failed, or its judge. ${EXIT.usage}: the files have faults. ${EXIT.interrupted}: Ctrl-C; the report has the cases that had ended.`,
      ],
      examples: [
        'runwire evals run',
        'runwire evals run support --case refund --repeat 5',
        'runwire evals run --model openai/gpt-5-mini --model anthropic/claude-sonnet-5',
        'runwire evals run --url https://agents.example.com --integration demo --junit evals.xml',
      ],
    })
    .argument('[AGENCY]', 'one agency of RUNWIRE_AGENCIES_DIR; default: all')
    .option('--case <TEXT>', 'only cases whose name contains this')
    .option('--model <MODEL>', 'another model, as provider/model; may be repeated', repeated)
    .option('--repeat <N>', 'how often each case is run, whatever the files say', wholeNumber)
    .option('--parallel <N>', `how many runs are made concurrently; default: ${DEFAULT_PARALLEL}`, wholeNumber, DEFAULT_PARALLEL)
    .option('--junit <FILE>', 'also write the results as JUnit XML')
    .option('--html <FILE>', 'also write the results as a page with steps and differences')
    .printsJson('print {"passed", "cases"} as JSON')
    .asksIntegration()
    .action(async (agency: string | undefined, options: RunOptions) => {
      checkOptions(options);
      const { findEvals, loadSchemaCheck } = await import('@runwire/server');
      const isRemote = options.url !== undefined;
      const found = await findEvals(env, { agency: agency ?? null, loadsAgencies: !isRemote });
      if (found.faults.length > 0) {
        for (const fault of found.faults) note(visible(fault));
        process.exitCode = EXIT.usage;
        return;
      }
      // The server has checked them against the schema of eval files.
      const suites = chooseCases(found.suites as readonly EvalSuite[], options);
      const { runEvals } = await import('../evals/run-evals.ts');
      const { EvalRuns } = await import('../evals/eval-run.ts');
      await using server = isRemote ? null : await startServer(env);
      const runs = new EvalRuns(await connectToIntegration(server?.env ?? env, server?.options ?? options));
      const models = options.model ?? [null];
      const abort = new AbortController();
      let results: readonly CaseResult[];
      {
        using bar = new ProgressBar('evals', { amount: (total) => `${total} runs` });
        using _ = onInterrupt(() => {
          if (abort.signal.aborted) leave();
          abort.abort();
          note('Cancelling the runs; press Ctrl-C again to leave.');
          void runs.cancel();
        });
        results = await runEvals(runs, suites, {
          ...{ models, parallel: options.parallel, signal: abort.signal },
          schemaProblem: await loadSchemaCheck(),
          onProgress: (done, total) => bar.show(done, total),
        });
      }
      await writeReports(results, models, options, abort.signal.aborted);
    });
}

function checkOptions({ parallel, repeat, model = [], url, integration }: RunOptions): void {
  if (parallel < 1 || parallel > MAX_PARALLEL) throw new UsageError(`--parallel must be 1 to ${MAX_PARALLEL}.`);
  if (repeat !== undefined && (repeat < 1 || repeat > MAX_REPEATS)) {
    throw new UsageError(`--repeat must be 1 to ${MAX_REPEATS}.`);
  }
  const twice = model.find((one, index) => model.indexOf(one) !== index);
  if (twice !== undefined) throw new UsageError(`--model ${twice} is given twice; keep one.`);
  if (integration !== undefined && url === undefined) throw new UsageError('--integration needs --url.');
}

/** Chooses by `--case`, and applies `--repeat`: then all of the repeats must pass, or as large a part as the file says. */
function chooseCases(suites: readonly EvalSuite[], { case: part, repeat }: RunOptions): readonly EvalSuite[] {
  const chosen = suites.flatMap((suite) => {
    const cases = suite.cases
      .filter(({ name }) => part === undefined || name.toLowerCase().includes(part.toLowerCase()))
      .map((one) =>
        repeat === undefined ? one : { ...one, repeat, atLeast: Math.ceil((one.atLeast * repeat) / one.repeat) },
      );
    return cases.length === 0 ? [] : [{ ...suite, cases }];
  });
  if (chosen.length > 0) return chosen;
  throw new UsageError(
    part === undefined
      ? 'No agency has evals; write evals/*.yaml in the folder of an agency.'
      : `No case has \`${part}\` in its name.`,
  );
}

async function startServer(env: Environment) {
  const { startEvalServer } = await import('@runwire/server');
  const server = await startEvalServer(env);
  const { url, apiKey, integration } = server;
  return {
    env: { ...env, RUNWIRE_API_KEY: apiKey },
    options: { url, integration },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

async function writeReports(
  results: readonly CaseResult[],
  models: readonly (string | null)[],
  { json, junit, html }: RunOptions,
  isInterrupted: boolean,
): Promise<void> {
  const passed = !isInterrupted && results.every(({ status }) => status === 'passed');
  if (junit !== undefined) {
    const { junitReport } = await import('../evals/junit-report.ts');
    await writeFile(junit, junitReport(results));
  }
  if (html !== undefined) {
    const { htmlReport } = await import('../evals/html-report.ts');
    await writeFile(html, htmlReport(results, { models, passed, isInterrupted }));
  }
  if (json) {
    const { jsonReport } = await import('../evals/json-report.ts');
    printJson(jsonReport(results, passed));
  } else {
    const { printResults } = await import('../evals/table-report.ts');
    printResults(results, models);
  }
  process.exitCode = isInterrupted ? EXIT.interrupted : passed ? 0 : EXIT.failed;
}
