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
  readonly uses?: string;
  readonly container?: { readonly image: string };
  readonly strategy?: { readonly matrix: { readonly include?: readonly Readonly<Record<string, string>>[] } };
  readonly steps?: readonly Step[];
}

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

const WORKFLOW_KEYS = ['name', 'on', 'permissions', 'concurrency', 'jobs', 'env'];
const JOB_KEYS =
  'name needs strategy runs-on timeout-minutes environment permissions container env steps uses if concurrency'.split(
    ' ',
  );
const STEP_KEYS = ['name', 'uses', 'with', 'run', 'env', 'if', 'id'];
/** Commands of npm that are no scripts of ours. */
const NPM_COMMANDS = ['npm ci --no-audit --no-fund', 'npm audit', 'npm test'];
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
    ...jobs.flatMap(([name, job]) =>
      jobProblems(job, Object.keys(workflow.jobs ?? {}), scripts).map((one) => `${name}: ${one}`),
    ),
    ...[...text.matchAll(/^.*\buses: (?!\.\/)(\S+)(.*)$/gm)]
      .filter(([, action = '', comment = '']) => !/@[0-9a-f]{40}$/.test(action) || !/^ # v\d+\.\d+\.\d+$/.test(comment))
      .map(([, action]) => `${action} is not pinned by a commit with its version as a comment`),
  ];
}

function jobProblems(job: Job, jobs: readonly string[], scripts: readonly string[]): string[] {
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
    check(jobs.includes(needed), `it needs ${needed}, which does not exist`);
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
