import { type Column, costText, note, printTable, visible } from '../output.ts';
import { type CaseResult, suiteFile } from './case-result.ts';

type Row = readonly CaseResult[];

/** Prints the cases as rows. One model has several columns; several models have one each. */
export function printResults(results: readonly CaseResult[], models: readonly (string | null)[]): void {
  if (results.length === 0) {
    note('No case has a result.');
    return;
  }
  const rows = [...Map.groupBy(results, ({ suite, evalCase }) => `${suiteFile(suite)}\n${evalCase.name}`).values()];
  const names: readonly Column<Row>[] = [
    { title: 'file', value: ([first]) => first && suiteFile(first.suite) },
    { title: 'case', value: ([first]) => first?.evalCase.name, canShrink: true },
  ];
  const single: readonly Column<Row>[] = [
    { title: 'passed', value: ([one]) => one && passedText(one) },
    { title: 'tokens', value: ([one]) => one?.usage.total_tokens },
    { title: 'judge', value: ([one]) => one?.judgeUsage.total_tokens || null },
    { title: 'cost', value: ([one]) => costText(one?.cost ?? null) },
    { title: 'seconds', value: ([one]) => one?.medianSeconds },
  ];
  const byModel = models.map(
    (model): Column<Row> => ({
      title: model ?? 'default',
      value: (row) => summary(row.find((one) => one.model === model)),
    }),
  );
  printTable(rows, [...names, ...(models.length === 1 ? single : byModel)]);
  for (const result of results) printFailures(result);
}

const passedText = ({ passed, outcomes, status }: CaseResult): string => `${passed}/${outcomes.length} ${status}`;

function summary(result: CaseResult | undefined): string | null {
  if (result === undefined) return null;
  const { usage, judgeUsage, cost, medianSeconds } = result;
  const judge = judgeUsage.total_tokens === 0 ? '' : `+${judgeUsage.total_tokens}`;
  const parts = [passedText(result), `${usage.total_tokens}${judge} tokens`, costText(cost), `${medianSeconds ?? 0} s`];
  return parts.filter((part) => part !== null).join(', ');
}

function printFailures({ suite, evalCase, model, status, failures }: CaseResult): void {
  if (status === 'passed') return;
  note(visible(`\n${suiteFile(suite)}: ${evalCase.name}${model === null ? '' : ` (${model})`}`));
  for (const { expectation, message } of failures) note(visible(`  ${expectation}: ${message}`));
}
