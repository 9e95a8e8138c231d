import { type CaseResult, hasPassed, type RepeatOutcome, suiteFile } from './case-result.ts';
import { type Change, diffCalls, diffTexts } from './difference.ts';
import type { EvalCase, EvalRecord, Failure, RecordedCall, RecordedRun, RecordStep } from './eval-case.ts';
import { DEFAULT_SCORE, type Verdict } from './judge.ts';

export interface PageOptions {
  readonly models: readonly (string | null)[];
  readonly passed: boolean;
  readonly isInterrupted: boolean;
}

/** The results as one page that loads nothing. */
export function htmlReport(results: readonly CaseResult[], { models, passed, isInterrupted }: PageOptions): string {
  const count = (status: CaseResult['status']) => results.filter((result) => result.status === status).length;
  const summary = `${count('passed')} passed, ${count('failed')} failed, ${count('error')} without a result`;
  const partial = isInterrupted ? element('p', 'The evals were interrupted: other cases had no result yet.') : '';
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<link rel="icon" href="data:,">
<title>Evals: ${passed ? 'passed' : 'failed'}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Evals: ${passed ? 'passed' : 'failed'}</h1>
${element('p', summary)}
${partial}
${overview(results, models)}
${[...Map.groupBy(results, ({ suite }) => suiteFile(suite))].map(suiteSection).join('\n')}
</main>
</body>
</html>
`;
}

const STYLE = `
:root { color-scheme: light dark; --text: light-dark(#1d2125, #e4e6e9); --page: light-dark(#ffffff, #16181b);
  --soft: light-dark(#f2f4f6, #22262b); --line: light-dark(#c5cbd3, #454c55); --good: light-dark(#176639, #7ddba0);
  --bad: light-dark(#a11420, #ffa1a5); --odd: light-dark(#774600, #f2c063); }
body { margin: 0; background: var(--page); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 70rem; margin: 0 auto; padding: 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid var(--line); padding: 0.3rem 0.6rem; text-align: start; vertical-align: top; }
.scroll { overflow-x: auto; }
pre { background: var(--soft); padding: 0.5rem; white-space: pre-wrap; overflow-wrap: anywhere; margin: 0.25rem 0; }
details { border: 1px solid var(--line); border-radius: 0.4rem; padding: 0.4rem 0.8rem; margin: 0.5rem 0; }
summary { cursor: pointer; overflow-wrap: anywhere; }
.passed { color: var(--good); } .failed { color: var(--bad); } .error { color: var(--odd); }
.passed, .failed, .error { font-weight: 600; }
ins { color: var(--good); } del { color: var(--bad); }
li { overflow-wrap: anywhere; }
`;

/** Null or undefined is left out. */
const element = (name: string, text: string | null | undefined, attributes = ''): string =>
  text === null || text === undefined ? '' : `<${name}${attributes}>${escaped(text)}</${name}>`;

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');

const modelName = (model: string | null): string => model ?? 'model of the agency';
const statusText = (status: CaseResult['status']): string => (status === 'error' ? 'no result' : status);

function overview(results: readonly CaseResult[], models: readonly (string | null)[]): string {
  const rows = [...Map.groupBy(results, ({ suite, evalCase }) => `${suiteFile(suite)}\n${evalCase.name}`).values()];
  const heads = ['File', 'Case', ...models.map(modelName)].map((name) => element('th', name, ' scope="col"')).join('');
  const body = rows.map((row) => {
    const [first] = row;
    if (first === undefined) return '';
    const cells = models.map((model) => overviewCell(row.find((result) => result.model === model)));
    return `<tr>${element('td', suiteFile(first.suite))}${element('th', first.evalCase.name, ' scope="row"')}${cells.join('')}</tr>`;
  });
  return `<div class="scroll" role="region" aria-label="All cases" tabindex="0"><table><thead><tr>${heads}</tr></thead>
<tbody>${body.join('\n')}</tbody></table></div>`;
}

function overviewCell(result: CaseResult | undefined): string {
  if (result === undefined) return '<td></td>';
  const { status, passed, outcomes, usage, judgeUsage, cost, medianSeconds } = result;
  const judge = judgeUsage.total_tokens === 0 ? '' : `, judge ${judgeUsage.total_tokens}`;
  const costs = cost === null ? '' : `, ${cost.amount} ${cost.currency}`;
  const figures = `${passed} of ${outcomes.length}; ${usage.total_tokens} tokens${judge}${costs}; ${medianSeconds ?? 0} s`;
  return `<td>${element('span', statusText(status), ` class="${status}"`)} ${escaped(figures)}</td>`;
}

function suiteSection([file, results]: [string, readonly CaseResult[]]): string {
  return `<section>${element('h2', `${results[0]?.suite.name ?? ''} (${file})`)}
${results.map(caseDetails).join('\n')}</section>`;
}

function caseDetails(result: CaseResult): string {
  const { evalCase, model, status, outcomes } = result;
  const { message, recorded } = evalCase;
  const isOpen = status === 'passed' ? '' : ' open';
  return `<details${isOpen}><summary>${element('span', statusText(status), ` class="${status}"`)} ${escaped(
    `${evalCase.name} — ${modelName(model)}`,
  )}</summary>
${element('h3', 'Message')}${element('pre', recorded?.message ?? message ?? '')}
${outcomes.map((outcome, index) => outcomeSection(result, outcome, index)).join('\n')}
</details>`;
}

function outcomeSection(
  { suite, evalCase, model, outcomes }: CaseResult,
  outcome: RepeatOutcome,
  index: number,
): string {
  const { record, failures, verdict, error } = outcome;
  const status = error !== null ? 'error' : hasPassed(outcome) ? 'passed' : 'failed';
  const title = `Run ${index + 1} of ${outcomes.length}`;
  const label = `Steps: ${suiteFile(suite)}, ${evalCase.name}, ${modelName(model)}, ${title}`;
  return `<section>${element('h3', `${title}: ${statusText(status)}`)}
${failureList(error === null ? failures : [...failures, error])}
${verdictText(evalCase, verdict)}
${record === null ? '' : recordSections(evalCase.recorded, record, label)}</section>`;
}

const failureList = (failures: readonly Failure[]): string =>
  failures.length === 0
    ? ''
    : `<ul>${failures.map(({ expectation, message }) => `<li>${element('strong', expectation)}: ${escaped(message)}</li>`).join('')}</ul>`;

function verdictText({ expect: { judge } }: EvalCase, verdict: Verdict | null): string {
  if (judge === undefined || verdict === null) return '';
  const least = judge.atLeast ?? DEFAULT_SCORE;
  return `${element('h4', 'Judge')}${element('p', `Criteria: ${judge.criteria}`)}
${element('p', `Score ${verdict.score}, at least ${least} is needed. Reason: ${verdict.reason}`)}`;
}

function recordSections(reference: RecordedRun | null, record: EvalRecord, label: string): string {
  return `${element('h4', 'Answer')}${
    reference === null ? element('pre', record.text) : textDifference(diffTexts(reference.text, record.text))
  }
${reference === null ? '' : callDifference(diffCalls(reference.calls, record.calls))}
${stepTable(record.steps, label)}`;
}

const MARKS = { equal: 'span', removed: 'del', added: 'ins' } as const;

function textDifference(changes: readonly Change<string>[]): string {
  const isEqual = changes.every(({ kind }) => kind === 'equal');
  const note = isEqual
    ? 'The same as the reference.'
    : 'Compared with the reference: removed text is struck out, new text is underlined.';
  return `${element('p', note)}<pre>${changes.map(({ kind, value }) => element(MARKS[kind], value)).join('')}</pre>`;
}

const CALL_NOTES = { equal: 'as recorded', removed: 'only recorded', added: 'not recorded' } as const;

function callDifference(changes: readonly Change<RecordedCall>[]): string {
  if (changes.length === 0) return '';
  const items = changes.map(
    ({ kind, value }) => `<li>${element(MARKS[kind], `${value.tool}(${value.arguments})`)} ${CALL_NOTES[kind]}</li>`,
  );
  return `${element('h4', 'Calls')}<ul>${items.join('')}</ul>`;
}

const MAX_SHOWN = 20_000;
const cut = (text: string): string => (text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text);

function stepTable(steps: readonly RecordStep[], label: string): string {
  if (steps.length === 0) return '';
  const heads = ['Step', 'Agent', 'Model or tool', 'End', 'Tokens', 'Call'].map((name) =>
    element('th', name, ' scope="col"'),
  );
  const rows = steps.map(
    ({ agent, name, status, tokens, ...step }, index): string =>
      `<tr>${[String(index + 1), agent, name, status, tokens === null ? '' : String(tokens)].map((text) => element('td', text)).join('')}<td>${callText(step)}</td></tr>`,
  );
  return `${element('h4', 'Steps')}<div class="scroll" role="region" aria-label="${escaped(label)}" tabindex="0"><table><thead><tr>${heads.join('')}</tr></thead>
<tbody>${rows.join('\n')}</tbody></table></div>`;
}

function callText({ arguments: given, output }: Pick<RecordStep, 'arguments' | 'output'>): string {
  if (given === null) return '';
  return element('pre', cut(output === null ? given : `${given}\n→ ${output}`));
}
