import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { until } from '@runwire/test-kit/shortfall.ts';
import { parse } from 'yaml';
import { root } from './support/cli-process.ts';
import { ScriptedServer } from './support/scripted-server.ts';
import { WebhookReceiver } from './support/webhook-receiver.ts';

/* The queries of the dashboard and of the alert rules, against the metrics of a server that has worked. */

interface Panel {
  readonly title: string;
  readonly datasource?: { readonly uid: string };
  readonly targets?: readonly { readonly expr?: string }[];
}

interface RuleFile {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[];
}

type Query = readonly [where: string, expr: string];

const read = (path: string) => readFileSync(join(root, path), 'utf8');
const dashboard = JSON.parse(read('deploy/observability/grafana/dashboard.json')) as {
  readonly panels: readonly Panel[];
};
const { groups } = parse(read('docs/alerts.yaml')) as RuleFile;

const dashboardQueries = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.flatMap(({ expr }): Query[] => (expr === undefined ? [] : [[title, expr]])),
);
const alertQueries = groups.flatMap(({ rules }) => rules.map(({ alert, expr }): Query => [alert, expr]));

/** Labels that Prometheus adds. */
const ADDED = ['instance', 'job'];

/** The label names of each metric that has a series. */
async function shownLabels(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  await using receiver = await WebhookReceiver.start();
  await using rig = await ScriptedServer.start({ env: { RUNWIRE_WEBHOOK_ALLOW: receiver.allow } });
  await rig.api.post('/v2/integrations/demo/webhooks', { url: receiver.url('hook') });
  await rig.answer({});
  const held = await rig.hold({});
  await held.call.fail('model_error', 'No.');
  await held.reader.whole();
  await (await rig.api.complete({ apiIntegrationId: 'nowhere' })).over;
  await receiver.waitFor('hook', 1);
  const page = async () => String((await rig.api.get('/metrics')).body);
  // The delay of the event loop is observed ten times a second.
  await until('a series of each metric', async () =>
    (await page()).includes('runwire_event_loop_delay_seconds_bucket'),
  );
  const labels = new Map<string, Set<string>>();
  for (const line of (await page()).split('\n')) {
    const type = /^# TYPE (\w+) (\w+)$/.exec(line);
    if (type !== null && type[2] !== 'histogram') labels.set(type[1] ?? '', new Set(ADDED));
    const [, name, pairs = ''] = /^(\w+)(?:\{(.*)\})? \S+$/.exec(line) ?? [];
    if (name === undefined) continue;
    const known = labels.get(name) ?? new Set(ADDED);
    for (const [, label = ''] of pairs.matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g)) known.add(label);
    labels.set(name, known);
  }
  return labels;
}

/** Returns one line for each name in the queries that no server shows. */
function problems(queries: readonly Query[], shown: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  return queries.flatMap(([where, expr]) => {
    const metrics = [...expr.matchAll(/\b((?:runwire|process|gen_ai_client)_\w+)(?:\{([^}]*)\})?/g)];
    const all = new Set(metrics.flatMap(([, name = '']) => [...(shown.get(name) ?? [])]));
    const groupings = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, names = '']) => names.split(/, */));
    return [
      ...(metrics.length > 0 || /\bup\{/.test(expr) ? [] : [`${where}: no metric in ${expr}`]),
      ...metrics.flatMap(([, name = '', selector = '']) => {
        const labels = shown.get(name);
        if (labels === undefined) return [`${where}: no server shows ${name}`];
        const used = [...selector.matchAll(/(\w+)(?:=~|!~|!=|=)"/g)].map(([, label = '']) => label);
        return used.filter((label) => !labels.has(label)).map((label) => `${where}: ${name} has no label ${label}`);
      }),
      ...groupings.filter((label) => !all.has(label)).map((label) => `${where}: nothing has the label ${label}`),
    ];
  });
}

test('the queries of the dashboard and the alerts name metrics and labels of a server', async () => {
  const shown = await shownLabels();
  assert.ok(dashboardQueries.length >= 30);
  assert.deepEqual(problems([...dashboardQueries, ...alertQueries], shown), []);
  const faults: readonly (readonly [string, RegExp])[] = [
    ['runwire_active_run', /no server shows runwire_active_run$/],
    ['rate(runwire_commit_seconds[5m])', /no server shows runwire_commit_seconds$/],
    ['rate(runwire_runs_ended_total{state="failed"}[5m])', /runwire_runs_ended_total has no label state$/],
    ['sum by (modell) (rate(runwire_tokens_total[5m]))', /nothing has the label modell$/],
    ['vector(1)', /no metric in/],
  ];
  for (const [expr, sentence] of faults) assert.match(problems([['planted', expr]], shown).join('\n'), sentence);
});

test('each panel of the dashboard has a query and a data source that is provisioned', () => {
  const { datasources } = parse(read('deploy/observability/grafana/datasources.yaml')) as {
    readonly datasources: readonly { readonly uid: string }[];
  };
  const known = datasources.map(({ uid }) => uid);
  const shown = dashboard.panels.filter(({ datasource }) => datasource !== undefined);
  for (const { title, datasource, targets = [] } of shown) {
    assert.ok(targets.length > 0, title);
    assert.ok(known.includes(datasource?.uid ?? ''), title);
  }
});
