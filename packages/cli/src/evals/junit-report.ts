import { type CaseResult, suiteFile } from './case-result.ts';

/** The results as JUnit XML: a `testsuite` per file, and in it a `testcase` per case and model. */
export function junitReport(results: readonly CaseResult[]): string {
  const suites = Map.groupBy(results, ({ suite }) => suiteFile(suite));
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites${counts(results)}>`,
    ...[...suites].flatMap(([file, ofSuite]) => [
      `  <testsuite name="${escaped(file)}"${counts(ofSuite)}>`,
      ...ofSuite.flatMap((result) => testCase(file, result)),
      '  </testsuite>',
    ]),
    '</testsuites>',
  ];
  return `${lines.join('\n')}\n`;
}

function testCase(file: string, { evalCase, model, status, failures, medianSeconds, passed, outcomes }: CaseResult) {
  const name = model === null ? evalCase.name : `${evalCase.name} (${model})`;
  const attributes = `classname="${escaped(file)}" name="${escaped(name)}" time="${(medianSeconds ?? 0).toFixed(3)}"`;
  if (status === 'passed') return [`    <testcase ${attributes}/>`];
  const element = status === 'error' ? 'error' : 'failure';
  const text = failures.map(({ expectation, message }) => `${expectation}: ${message}`).join('\n');
  const summary = `${passed} of ${outcomes.length} runs passed; ${evalCase.atLeast} must.`;
  return [
    `    <testcase ${attributes}>`,
    `      <${element} message="${escaped(summary)}" type="${status}">${escaped(text)}</${element}>`,
    '    </testcase>',
  ];
}

function counts(results: readonly CaseResult[]): string {
  const count = (status: CaseResult['status']) => results.filter((result) => result.status === status).length;
  const seconds = results.reduce((sum, { medianSeconds }) => sum + (medianSeconds ?? 0), 0);
  return ` tests="${results.length}" failures="${count('failed')}" errors="${count('error')}" time="${seconds.toFixed(3)}"`;
}

/** XML has no form for these characters, not even escaped. */
const FORBIDDEN = /(?![\t\n\r])\p{Cc}|\p{Cs}|[\ufffe\uffff]/gu;
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

const escaped = (text: string): string =>
  text
    .replace(FORBIDDEN, '\ufffd')
    .replace(/[&<>"]/g, (character) => ENTITIES[character] ?? '')
    .replaceAll('\r', '&#13;');
