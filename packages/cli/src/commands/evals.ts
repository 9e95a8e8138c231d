import { statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Runwire } from '@runwire/client';
import type { CliCommand, Context, Environment } from '../command.ts';
import { repeated, wholeNumber } from '../command.ts';
import { connectToIntegration, type IntegrationOptions } from '../connection.ts';
import type { CaseResult } from '../evals/case-result.ts';
import type { EvalSuite, RecordedRun } from '../evals/eval-case.ts';
import { EXIT, UsageError } from '../exit-codes.ts';
import { leave, onInterrupt } from '../interrupts.ts';
import { note, print, printJson, visible } from '../output.ts';
import { ProgressBar } from '../progress-bar.ts';
import { jsonOption } from '../request-options.ts';

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
  addRecordCommand(evals, context);
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
        'runwire evals run --url https://agents.example.com --junit evals.xml',
      ],
    })
    .argument('[FOLDER]', 'one agency of RUNWIRE_AGENCIES_DIR, or a folder; default: all')
    .option('--case <TEXT>', 'only cases whose name contains this')
    .option('--model <MODEL>', 'another model, as provider/model; may be repeated', repeated)
    .option('--repeat <N>', 'how often each case is run, whatever the files say', wholeNumber)
    .option(
      '--parallel <N>',
      `how many runs are made concurrently; default: ${DEFAULT_PARALLEL}`,
      wholeNumber,
      DEFAULT_PARALLEL,
    )
    .option('--junit <FILE>', 'also write the results as JUnit XML')
    .option('--html <FILE>', 'also write the results as a page with steps and differences')
    .printsJson('print {"passed", "cases"} as JSON')
    .asksIntegration()
    .action(async (folder: string | undefined, options: RunOptions) => {
      checkOptions(options);
      const { findEvals, loadSchemaCheck } = await import('@runwire/server');
      const isRemote = options.url !== undefined;
      const found = await findEvals(env, { folder: folder ?? null, loadsAgencies: !isRemote });
      if (found.faults.length > 0) {
        for (const fault of found.faults) note(visible(fault));
        process.exitCode = EXIT.usage;
        return;
      }
      // They match the schema of eval files.
      const suites = chooseCases(found.suites as readonly EvalSuite[], options);
      const { runEvals } = await import('../evals/run-evals.ts');
      const { EvalRuns } = await import('../evals/eval-run.ts');
      await using server = isRemote ? null : await startServer(env, found.agenciesDir);
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

/** Chooses cases by `--case`, and applies `--repeat`: the same part must pass as in the file. */
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

interface RecordOptions extends IntegrationOptions {
  readonly folder?: string;
  readonly file: string;
  readonly withContext?: string;
  readonly json?: true;
}

function addRecordCommand(evals: CliCommand, { env }: Context): void {
  evals
    .command('record')
    .explain({
      summary: 'write runs of a server into the evals of an agency',
      details: [
        'It writes messages, answers, and calls with their outcomes into evals/recorded.jsonl, and a case for each run into a file beside it.',
        'Files and images of messages are not recorded: evals have none.',
        'A server deletes user_context when a run ends; give it with --with-context if the case needs it.',
      ],
      examples: [
        'runwire evals record run_01HZX3',
        'runwire evals record run_01HZX3 --folder support --file tickets.yaml',
      ],
    })
    .argument('<RUN_ID...>')
    .option('--folder <FOLDER>', 'an agency of RUNWIRE_AGENCIES_DIR, or a folder; default: that of the integration')
    .option('--file <FILE>', 'the file that gets the cases; default: recorded.yaml', 'recorded.yaml')
    .option('--with-context <JSON>', 'the user_context of the runs, written into the file')
    .printsJson('print {"file", "runs"} as JSON')
    .asksIntegration()
    .action(async (runIds: readonly string[], options: RecordOptions) => {
      const userContext = jsonOption('--with-context', options.withContext);
      if (!/^[\w-]+\.yaml$/.test(options.file)) throw new UsageError('--file must be a name such as tickets.yaml.');
      const client = await connectToIntegration(env, options);
      const { readRun } = await import('../evals/record-run.ts');
      const { writeRecorded } = await import('../evals/recorded-file.ts');
      const runs: RecordedRun[] = [];
      const incomplete: string[] = [];
      for (const runId of runIds) {
        const { run, lacksAttachments } = await readRun(client, runId, userContext);
        runs.push(run);
        if (lacksAttachments) incomplete.push(runId);
      }
      const folder = await agencyFolder(env, client, options);
      const file = await writeRecorded(folder, options.file, runs);
      if (options.json) printJson({ file, runs: runIds });
      else print(visible(file));
      if (incomplete.length > 0) {
        note(
          `Files and images are not recorded, so the cases of ${incomplete.join(', ')} have only the text of the messages.`,
        );
      }
      note(
        'The files contain what people wrote: messages, answers and outcomes of tools. Check them before you commit.',
      );
    });
}

/** Finds the folder that gets the cases. */
async function agencyFolder(env: Environment, client: Runwire, { folder }: RecordOptions): Promise<string> {
  const dir = env.RUNWIRE_AGENCIES_DIR || undefined;
  const name = folder ?? (await client.integrations.get()).agency;
  const paths = [...(dir === undefined ? [] : [join(dir, name)]), ...(folder === undefined ? [] : [folder])];
  const found = paths.find((path) => statSync(path, { throwIfNoEntry: false })?.isDirectory());
  if (found !== undefined) return found;
  throw new UsageError(
    folder === undefined
      ? 'The folder of the agency is not known here; name it with --folder, or set RUNWIRE_AGENCIES_DIR.'
      : `${folder} is not a folder; name an agency of RUNWIRE_AGENCIES_DIR, or the path of its folder.`,
  );
}

async function startServer(env: Environment, agenciesDir: string | null) {
  const { startEvalServer } = await import('@runwire/server');
  const server = await startEvalServer({ ...env, RUNWIRE_AGENCIES_DIR: agenciesDir ?? undefined });
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
