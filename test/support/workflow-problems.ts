/** A workflow of GitHub Actions, as far as the checks below read it. */
export interface Workflow {
  readonly on?: unknown;
  readonly permissions?: unknown;
  readonly jobs?: Readonly<Record<string, Job>>;
}

interface Job {
  readonly 'runs-on'?: string;
  readonly 'timeout-minutes'?: number;
  readonly permissions?: unknown;
  readonly needs?: string | readonly string[];
  readonly outputs?: Readonly<Record<string, string>>;
  readonly uses?: string;
  readonly container?: { readonly image: string };
  readonly strategy?: { readonly matrix: { readonly include?: readonly Readonly<Record<string, string>>[] } };
  readonly steps?: readonly Step[];
}

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly id?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

const WORKFLOW_KEYS = ['name', 'on', 'permissions', 'concurrency', 'jobs', 'env'];
const JOB_KEYS =
  'name needs strategy runs-on timeout-minutes environment permissions container env steps uses if concurrency outputs'.split(
    ' ',
  );
const STEP_KEYS = ['name', 'uses', 'with', 'run', 'env', 'if', 'id'];
/** Commands of npm that are no scripts of ours. */
const NPM_COMMANDS = ['npm ci --no-audit --no-fund', 'npm audit', 'npm test'];
/** The commands of a job that may write. They install no package, run no proof, and need no installed package. */
const WRITING_COMMANDS = /^npm run (release -- --publish$|image -- )/;
/** Commands that compare the version with the tags of all versions. */
const TAG_READERS = ['npm run release -- --publish', 'npm run image -- --join'];
const ARCHITECTURES = ['arm64', 'x64'];
const PERMISSIONS = ['contents', 'id-token', 'packages'];

/** Returns what is wrong with a workflow. `text` has the comments, which the parsed value has not. */
export function workflowProblems(workflow: Workflow, text: string, scripts: readonly string[]): string[] {
  const jobs = Object.entries(workflow.jobs ?? {});
  return [
    ...unknownKeys('the workflow', workflow, WORKFLOW_KEYS),
    ...(workflow.on === undefined ? ['nothing starts the workflow'] : []),
    ...(JSON.stringify(workflow.permissions) === '{}' ? [] : ['the workflow gives permissions to all jobs']),
    ...(jobs.length === 0 ? ['it has no jobs'] : []),
    ...jobs.flatMap(([name, job]) => jobProblems(job, workflow.jobs ?? {}, scripts).map((one) => `${name}: ${one}`)),
    ...[...text.matchAll(/^.*\buses: (?!\.\/)(\S+)(.*)$/gm)]
      .filter(([, action = '', comment = '']) => !/@[0-9a-f]{40}$/.test(action) || !/^ # v\d+\.\d+\.\d+$/.test(comment))
      .map(([, action]) => `${action} is not pinned by a commit with its version as a comment`),
  ];
}

function jobProblems(job: Job, jobs: Readonly<Record<string, Job>>, scripts: readonly string[]): string[] {
  const problems = unknownKeys('it', job, JOB_KEYS);
  const check = (isRight: boolean, problem: string) => {
    if (!isRight) problems.push(problem);
  };
  check(job.permissions !== undefined, 'it has no permissions');
  for (const [name, level] of Object.entries(job.permissions ?? {}))
    check(
      PERMISSIONS.includes(name) && ['read', 'write'].includes(String(level)),
      `the permission ${name}: ${level} is not expected`,
    );
  for (const needed of [job.needs ?? []].flat())
    check(jobs[needed] !== undefined, `it needs ${needed}, which does not exist`);
  for (const [, name = '', output = ''] of JSON.stringify(job).matchAll(/\$\{\{ needs\.(\w+)\.outputs\.(\w+) \}\}/g))
    check(
      [job.needs].flat().includes(name) && jobs[name]?.outputs?.[output] !== undefined,
      `it does not get ${output} from ${name}`,
    );
  for (const [, id = ''] of JSON.stringify(job.outputs ?? {}).matchAll(/\$\{\{ steps\.(\w+)\./g))
    check(
      (job.steps ?? []).some((step) => step.id === id),
      `it has no step ${id}`,
    );
  if (job.uses !== undefined) return problems;
  check(Number.isInteger(job['timeout-minutes']), 'it has no timeout');
  check(/^(ubuntu-\d\d\.\d\d|\$\{\{ matrix\.runner \}\})$/.test(job['runs-on'] ?? ''), 'its runner has no version');
  const rows = job.strategy?.matrix.include;
  if (job.strategy !== undefined) {
    const found = (rows ?? []).map(({ architecture = '' }) => architecture).sort();
    check(found.join() === ARCHITECTURES.join(), `its architectures are ${found.join(', ') || 'none'}`);
    const wrong = (rows ?? []).filter(
      ({ architecture, runner = '' }) => runner.endsWith('-arm') !== (architecture === 'arm64'),
    );
    for (const { runner } of wrong) problems.push(`${runner} has another architecture`);
  }
  check((job.steps ?? []).length > 0, 'it has no steps');
  for (const step of job.steps ?? []) problems.push(...stepProblems(step, scripts, rows ?? []));
  const commands = (job.steps ?? []).flatMap(({ run }) => run ?? []);
  if (Object.values(job.permissions ?? {}).includes('write'))
    for (const command of commands)
      check(WRITING_COMMANDS.test(command), `\`${command}\` runs code of others in a job that may write`);
  if (commands.some((command) => TAG_READERS.includes(command)))
    check(
      (job.steps ?? []).some((step) => step.with?.['fetch-depth'] === 0),
      'its checkout lacks the tags of other versions',
    );
  return problems;
}

function stepProblems(
  step: Step,
  scripts: readonly string[],
  rows: readonly Readonly<Record<string, string>>[],
): string[] {
  const problems = unknownKeys('a step', step, STEP_KEYS);
  if ((step.uses === undefined) === (step.run === undefined)) problems.push('a step needs either `uses` or `run`');
  if (step.run !== undefined && !NPM_COMMANDS.includes(step.run)) {
    const [, script = ''] = /^npm run ([\w:-]+)( -- [\w -]+(\$\{\{ matrix\.\w+ \}\})?)?$/.exec(step.run) ?? [];
    if (!scripts.includes(script)) problems.push(`\`${step.run}\` is no npm script`);
  }
  for (const [, name = ''] of JSON.stringify(step).matchAll(/\$\{\{ matrix\.(\w+) \}\}/g))
    if (rows.length === 0 || !rows.every((row) => name in row)) problems.push(`the matrix has no ${name}`);
  if (step.uses?.startsWith('actions/checkout@') && step.with?.['persist-credentials'] !== false)
    problems.push('the checkout leaves its token in the folder');
  return problems;
}

const unknownKeys = (subject: string, value: object, known: readonly string[]): string[] =>
  Object.keys(value)
    .filter((key) => !known.includes(key))
    .map((key) => `${subject} has the unknown key ${key}`);
