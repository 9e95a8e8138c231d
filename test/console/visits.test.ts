import { test } from 'node:test';
import { count, inGate, plantedFault, scale } from '@runwire/test-kit/scale.ts';
import { addTo, Shortfall } from '@runwire/test-kit/shortfall.ts';
import { cites } from '../../requirements/cite.ts';
import { inLanes } from '../support/lanes.ts';
import { missingServices } from '../support/services.ts';
import { ConsoleRig, type ConsoleRigOptions } from './console-rig.ts';
import { BuiltConsole, type SourceChange } from './fault-build.ts';
import { NO_SEED, seed } from './seed.ts';
import { runVisit } from './visit.ts';
import { consoleVisits, gateVisits } from './visits/all-visits.ts';

/*
 * Visits every page of the console in a real browser: on both stores, and below a path of nginx. Everything is found by
 * role and label. The browser must log nothing, and axe must find nothing. The gate makes a few visits on a new server.
 */

const WIDE = { width: 1280, height: 800 };
const NARROW = { width: 390, height: 844 };

interface Pass {
  readonly place: string;
  readonly options: ConsoleRigOptions;
  readonly viewport: typeof WIDE;
}

/** Each store, and the path of nginx, once with all visits; both widths. */
const PASSES: readonly Pass[] = [
  { place: 'sqlite', options: {}, viewport: WIDE },
  { place: 'sqlite', options: {}, viewport: NARROW },
  { place: 'postgres', options: { store: 'postgres' }, viewport: NARROW },
  { place: 'nginx', options: { prefix: '/tools/runwire/' }, viewport: WIDE },
];
/** One pass waits for quiet pages most of the time. */
const LANES = 2;

/** A change of a source, and the area whose visits find it. */
interface PlantedFault extends SourceChange {
  readonly area: string;
}

/** The planted faults as changes of the sources of the console. */
const FAULTS: Readonly<Record<string, PlantedFault>> = {
  'failed-as-done': {
    area: 'runs',
    file: 'pages/runs/timeline-row.tsx',
    text: "{status !== 'completed' && <Status status={status} />}",
    by: '',
  },
  'keep-nothing': {
    area: 'reruns',
    file: 'pages/runs/rerun-dialog.tsx',
    text: '      afterStep,\n',
    by: '',
  },
  'forget-calls': {
    area: 'chats',
    file: 'pages/transcript/turn-view.tsx',
    text: 'const list = parts?.root ?? summary;',
    by: 'const list = storedParts({ ...message, calls: [] });',
  },
  unlabelled: {
    area: 'keys',
    file: 'pages/keys/keys-page.tsx',
    text: '      Create key\n    </button>',
    by: '    </button>',
  },
  'inline-style': {
    area: 'keys',
    file: 'ui/page.tsx',
    text: '<header className="page-head">',
    by: '<header className="page-head" ref={(header) => header?.setAttribute("style", "gap: 1px")}>',
  },
};

test('every page and every error of the console works in a browser', async (t) => {
  cites(t, 'spec-5-where');
  const fault = plantedFault();
  const [missing] = await missingServices(scale(['chromium'], ['chromium', 'postgres', 'nginx']));
  if (missing !== undefined) return t.skip(missing);
  const change = FAULTS[fault ?? ''];
  using built = change === undefined ? null : await BuiltConsole.build(change);
  const visits = inGate() ? gateVisits : fault === null ? consoleVisits() : consoleVisits(change?.area);
  const sum = { pages: 0, visits: 0, axe: 0, messages: 0, violations: 0, foreign: 0 };
  const problems: string[] = [];
  const folder = built === null ? {} : { consoleFolder: built.folder };
  const passes = scale<readonly Pass[]>(PASSES.slice(0, 1), PASSES).map((pass) => [pass.place, pass] as const);
  await inLanes(LANES, passes, async ({ place, options, viewport }) => {
    const agencies = inGate() ? { agencies: {} } : {};
    await using rig = await ConsoleRig.open({ ...options, ...folder, ...agencies });
    if (inGate()) await rig.startServer();
    const stage = { rig, seed: inGate() ? NO_SEED : await seed(rig) };
    for (const visit of visits) {
      const { problems: found, ...figures } = await runVisit(stage, visit, viewport);
      addTo(sum, { ...figures, visits: 1 });
      problems.push(...found.map((problem) => `${place}: ${problem}`));
    }
  });
  if (problems.length > 0)
    throw new Shortfall(`problems: expected 0, found ${problems.length}.\n${problems.join('\n')}`);
  count(sum);
});
