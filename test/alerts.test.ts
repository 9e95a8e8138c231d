import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { errors } from '@runwire/contract';
import { startTestServer } from '@runwire/test-kit';
import { parse } from 'yaml';
import { root } from './support/cli-process.ts';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

function rulesIn(text: string): Rule[] {
  const { groups } = parse(text) as { groups: readonly { name: string; rules: readonly Rule[] }[] };
  return groups.flatMap(({ rules }) => rules);
}

const alerts = readFileSync(join(root, 'docs/alerts.yaml'), 'utf8');
const page = readFileSync(join(root, 'docs/metrics.md'), 'utf8');

interface ServerMetrics {
  /** The names of all metrics. A histogram is listed by its parts' names. */
  readonly names: ReadonlySet<string>;
  /** The series of a server that has done nothing yet. */
  readonly series: readonly string[];
}

async function shownMetrics(): Promise<ServerMetrics> {
  await using server = await startTestServer();
  const { body } = await server.api.get('/metrics');
  const types = [...String(body).matchAll(/^# TYPE (\w+) (\w+)$/gm)];
  const names = types.flatMap(([, name = '', type = '']) =>
    type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  );
  return { names: new Set(names), series: String(body).split('\n') };
}

/**
 * `increase(…) > 0` does not see the first event of a series that begins with it, so the series must exist before, as
 * 0.
 */
function unseenFirsts(expr: string, series: readonly string[]): string[] {
  const watched = [...expr.matchAll(/\bincrease\((\w+)(?:\{(\w+="\w+")\})?\[\w+\]\)/g)];
  return watched
    .filter(
      ([, name, label = '']) =>
        !series.some((line) => line.startsWith(`${name}`) && line.includes(label) && / 0$/.test(line)),
    )
    .map(([selector]) => selector);
}

/** Returns one line for each problem of the rules. */
function problems(rules: readonly Rule[], { names, series }: ServerMetrics): string[] {
  return rules.flatMap(({ alert, expr, labels, annotations }) => {
    const metrics = [...expr.matchAll(/\b(?:runwire|process)_\w+/g)].map(([name]) => name);
    const codes = [...expr.matchAll(/\bcode=~?"([^"]*)"/g)].flatMap(([, value = '']) => value.split('|'));
    return [
      ...metrics.filter((name) => !names.has(name)).map((name) => `${alert}: no server shows ${name}`),
      ...codes.filter((code) => !(code in errors)).map((code) => `${alert}: ${code} is no code`),
      ...unseenFirsts(expr, series).map((selector) => `${alert}: the first event of ${selector} is not seen`),
      ...(metrics.length > 0 || /\bup\{/.test(expr) ? [] : [`${alert}: it looks at nothing`]),
      ...(/^(page|ticket)$/.test(labels?.severity ?? '') ? [] : [`${alert}: whom does it wake?`]),
      ...(['summary', 'action'] as const)
        .filter((name) => (annotations?.[name] ?? '').length < 20)
        .map((name) => `${alert}: no ${name}`),
    ];
  });
}

test('every alert uses existing metrics and explains the problem and the fix', async () => {
  const rules = rulesIn(alerts);
  const shown = await shownMetrics();
  assert.ok(rules.length >= 15);
  assert.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length);
  assert.deepEqual(problems(rules, shown), []);
  const [rule] = rules;
  assert.ok(rule);
  const faults: readonly (readonly [Partial<Rule>, RegExp])[] = [
    [{ expr: 'runwire_open_stream > 1' }, /no server shows runwire_open_stream$/],
    [{ expr: 'runwire_runs_ended_total{code="modelerror"} > 1' }, /modelerror is no code/],
    [{ expr: 'increase(runwire_runs_ended_total{code="step_limit"}[5m]) > 0' }, /first event/],
    [{ expr: 'vector(1)' }, /looks at nothing/],
    [{ annotations: { summary: 'Something is wrong here.' } }, /no action/],
    [{ labels: {} }, /whom/],
  ];
  for (const [fault, sentence] of faults) assert.match(problems([{ ...rule, ...fault }], shown).join('\n'), sentence);
});

test('docs/metrics.md lists exactly the metrics of a server', async () => {
  const shown = new Set([...(await shownMetrics()).names].map((name) => name.replace(/_(bucket|sum|count)$/, '')));
  const listed = [...page.matchAll(/^\| (`(?:runwire|process|gen_ai)_.*?) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`((?:runwire|process|gen_ai)_\w+)/g)].map(([, name = '']) => name),
  );
  assert.deepEqual([...listed].sort(), [...shown].sort());
});
