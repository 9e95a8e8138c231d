import type { ConsoleVisit } from '../visit.ts';
import { agencyVisits, processFaultVisit } from './agencies.ts';
import { approvalVisits } from './approvals.ts';
import { chatStateVisit } from './chat-state.ts';
import { chatVisits } from './chats.ts';
import { clientVisit } from './client.ts';
import { connectionVisits } from './connection.ts';
import { filesVisits } from './files.ts';
import { healthVisits } from './health.ts';
import { homeVisits } from './home.ts';
import { integrationVisits } from './integrations.ts';
import { keyVisits } from './keys.ts';
import { memberVisits } from './members.ts';
import { peopleVisits } from './people.ts';
import { playgroundVisits } from './playground.ts';
import { playgroundFiles } from './playground-files.ts';
import { playgroundQuestionVisits } from './playground-questions.ts';
import { workbenchVisit } from './playground-workbench.ts';
import { refusalVisits } from './refusals.ts';
import { rerunVisits } from './reruns.ts';
import { runVisits } from './runs.ts';
import { scheduleVisits } from './schedules.ts';
import { shellVisits } from './shell.ts';
import { signInVisits } from './sign-in.ts';
import { togetherVisits, twoTabsVisit } from './together.ts';
import { usageVisits } from './usage.ts';
import { webhookVisits } from './webhooks.ts';

/*
 * To add an area: write `visits/<area>.ts` that exports an array of visits, and add the array here. `checkPage` each page
 * and each error of the area once, with a name that no other visit uses. A visit may rely on what `seed.ts` made, but not
 * on what another visit did; what it creates has a name of `unique`. To run some areas only, name them:
 * `CONSOLE_VISITS=keys,people npm run prove -- console --short`.
 */
const AREAS: Readonly<Record<string, readonly ConsoleVisit[]>> = {
  'sign-in': signInVisits,
  shell: shellVisits,
  home: homeVisits,
  keys: keyVisits,
  people: peopleVisits,
  integrations: integrationVisits,
  agencies: agencyVisits,
  playground: [...playgroundVisits, playgroundFiles, ...playgroundQuestionVisits, workbenchVisit],
  approvals: approvalVisits,
  chats: [...chatVisits, chatStateVisit],
  runs: runVisits,
  reruns: rerunVisits,
  members: memberVisits,
  usage: usageVisits,
  files: filesVisits,
  schedules: scheduleVisits,
  webhooks: webhookVisits,
  health: healthVisits,
  together: togetherVisits,
  refusals: refusalVisits,
  client: [clientVisit],
  // Last, because it stops the server.
  connection: connectionVisits,
};

/** The gate's visits. They need no seeded data. */
export const gateVisits: readonly ConsoleVisit[] = [
  ...keyVisits.slice(0, 1),
  twoTabsVisit,
  processFaultVisit,
  clientVisit,
];

/** The visits of all areas, or of the areas that `CONSOLE_VISITS` names. */
export function consoleVisits(chosen = process.env.CONSOLE_VISITS): readonly ConsoleVisit[] {
  const areas = chosen === undefined ? Object.keys(AREAS) : chosen.split(',');
  return areas.flatMap((area) => {
    const visits = AREAS[area];
    if (visits === undefined) throw new Error(`There are no visits of \`${area}\`.`);
    return visits;
  });
}
