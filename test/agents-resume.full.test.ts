import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Rig, type ServerProcess, SHORT_LEASE } from '@runwire/test-kit';
import { count, plantedFault, scale } from '@runwire/test-kit/scale.ts';
import { addTo, expectAtLeast, expectEqual, named, until, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import { inLanes } from './support/lanes.ts';
import { checkOpenCall, type KillSums, killProcess, noKills } from './support/process-kills.ts';
import { checkCancelled, checkTeamRun, type TeamResult, uncut } from './support/team-checks.ts';
import {
  answerAll,
  callId,
  endHeld,
  FRAMES,
  holdAll,
  LAST_STEP,
  ONCE,
  playUntil,
  type TeamRun,
  TOOLS,
} from './support/team-run.ts';

/*
 * A run of five agents, with a hand-off, two concurrent delegations, one of which delegates again, and four tool calls. Its
 * server is killed when the client has seen event 1, event 2, and so on: on the embedded store the next start continues the
 * run, of three nodes another one does. At every tenth event the run is also cancelled in both ways, and its server is
 * stopped in good order. The process in which the server runs the tools is killed at every event, too. Models and tools are
 * served, and their calls counted, in this process, which survives the servers.
 */

const AGENCY = 'team';
const INTEGRATION = { apiIntegrationId: 'agents', agency: AGENCY };
const agencyFolders = [AGENCY] as const;
const EVERY_EVENT = Array.from({ length: FRAMES }, (_, index) => index + 1);
const EVERY_TENTH = EVERY_EVENT.filter((event) => event % 10 === 0);
/** Events at which several responses and tool calls are open, of which some have stored items. */
const SHORT = {
  embedded: [50, 88],
  nodes: [17, 43, 68, 91, 116],
  tenth: [50, 90],
  processes: [43, 47, 72, 80, 88, 116],
};
const NEVER_MS = 3_600_000;
/** The runs that a node has when it is killed. */
const GROUP = 16;
/** The runs whose process is killed. After a few kills the next process starts only after a pause. */
const PROCESS_GROUP = 32;
/** Stops in good order as soon as it is asked to, but lets steps end. */
const DRAINS = { drainMs: 0, handOverMs: WAIT_MS };

interface Cuts {
  readonly fault: string | null;
  /** The events at which a server is killed. */
  readonly events: readonly number[];
  /** The events at which a run is cancelled, and at which a server is stopped in good order. */
  readonly tenth: readonly number[];
}

type Sums = Record<'runs' | 'void_items' | 'exact_usage', number>;

/** Checks runs that continued on these servers, and adds what was found. */
async function checkAll(rig: Rig, runs: readonly (readonly [number, TeamRun])[], sums: Sums, options: CheckOptions) {
  const { servers, whole, betweenSteps = false, onlySteps = false } = options;
  answerAll(rig);
  const read = runs.map(([, { reader }]) => rig.follow(reader, { servers }));
  for (const [index, [event, { runId }]] of runs.entries()) {
    const { frames } = (await read[index]) as Awaited<(typeof read)[number]>;
    const { api } = servers()[0] as ServerProcess;
    const check = checkTeamRun(rig, runId, { api, frames, whole, betweenSteps, onlySteps });
    const { attempt, ...found } = await named(`event ${event}`, check);
    // The last frames arrive with the run's end, or a little before it. A drain waits for the last step.
    if (event < (betweenSteps ? LAST_STEP : FRAMES - 6)) expectEqual(`attempts of event ${event}`, attempt, 2);
    addTo(sums, { runs: 1, ...found });
  }
  holdAll(rig);
}

interface CheckOptions {
  readonly servers: () => readonly ServerProcess[];
  readonly whole: TeamResult;
  readonly betweenSteps?: boolean;
  readonly onlySteps?: boolean;
}

/**
 * Kills a server at each event. The server that continues a run is killed at the next event; the last server is stopped at
 * every tenth.
 */
async function embedded({ fault, events, tenth }: Cuts, sums: Sums): Promise<void> {
  await using rig = await Rig.open({ fault, limits: DRAINS, agencyFolders });
  await rig.add({ fault: null });
  await rig.prepare(INTEGRATION);
  const whole = await uncut(rig);
  let onlySteps = false;
  for (const [index, event] of events.entries()) {
    const run = await playUntil(rig, `kill-${event}`, event);
    await rig.server().kill();
    await within('end of the cut stream', WAIT_MS, run.reader.over);
    rig.servers.length = 0;
    answerAll(rig);
    // Half of the servers store nothing but finished steps.
    const next = index % 4 < 2;
    await rig.add(next ? { limits: { ...DRAINS, flushMs: NEVER_MS } } : {});
    await checkAll(rig, [[event, run]], sums, { servers: () => rig.servers, whole, onlySteps });
    onlySteps = next;
  }
  if (tenth.length > 0) await stopEmbedded(rig, tenth, sums, whole);
}

/** Cancels runs in both ways, and stops the server in good order: its runs continue after the next start. */
async function stopEmbedded(rig: Rig, events: readonly number[], sums: Sums, whole: TeamResult): Promise<void> {
  for (const mode of ['immediate', 'after_step'] as const) {
    for (const event of events) {
      const run = await playUntil(rig, `${mode}-${event}`, event, { settles: true });
      await named(`${mode} at event ${event}`, checkCancelled(rig, run, mode));
    }
  }
  const runs: [number, TeamRun][] = [];
  for (const event of events) runs.push([event, await playUntil(rig, `stop-${event}`, event)]);
  await rig.server().kill('SIGTERM');
  rig.servers.length = 0;
  answerAll(rig);
  await rig.add();
  await checkAll(rig, runs, sums, { servers: () => rig.servers, whole });
}

/** Resolves when the node has been asked to end and hands its runs over. */
async function untilDraining({ url }: ServerProcess): Promise<void> {
  const isDraining = async () => {
    const answer = await fetch(`${url}/readyz`).catch(() => null);
    await answer?.body?.cancel();
    return answer?.status !== 200;
  };
  await until('start of the drain', isDraining, { pauseMs: 20 });
  await sleep(100);
}

/** Kills a node of three with many runs, again and again; then one is stopped in good order and hands its runs over. */
async function onNodes(events: readonly number[], tenth: readonly number[], sums: Sums): Promise<number> {
  await using rig = await Rig.start({ nodes: 3, limits: { ...SHORT_LEASE, ...DRAINS }, agencyFolders });
  await rig.prepare(INTEGRATION);
  const whole = await uncut(rig);
  let doomed = 0;
  const others = () => rig.servers.slice(doomed + 1);
  const begin = async (event: number, name: string, settles: boolean) =>
    [event, await playUntil(rig, `${name}-${event}`, event, { api: rig.server(doomed).api, settles })] as const;
  for (let index = 0; index < events.length; index += GROUP, doomed += 1) {
    const runs: (readonly [number, TeamRun])[] = [];
    for (const event of events.slice(index, index + GROUP)) runs.push(await begin(event, 'node', false));
    await rig.server(doomed).kill();
    await checkAll(rig, runs, sums, { servers: others, whole });
    if (index + GROUP < events.length) await rig.add();
  }
  const runs: (readonly [number, TeamRun])[] = [];
  for (const event of tenth) runs.push(await begin(event, 'drain', true));
  const ended = rig.server(doomed).kill('SIGTERM');
  await untilDraining(rig.server(doomed));
  // Another node takes a run over as soon as its last held call has ended.
  answerAll(rig);
  for (const [, { runId }] of runs) await endHeld(rig, runId);
  await within('end of a node that hands its runs over', WAIT_MS, ended);
  await checkAll(rig, runs, sums, { servers: others, whole, betweenSteps: true });
  return doomed;
}

/** Kills the process of the agency under runs at all these events. The server and its streams continue. */
async function killProcesses(fault: string | null, events: readonly number[], sums: KillSums): Promise<void> {
  await using rig = await Rig.start({ fault, agencyFolders });
  await rig.prepare(INTEGRATION);
  const whole = await uncut(rig);
  for (let index = 0; index < events.length; index += PROCESS_GROUP) {
    const runs: (readonly [number, TeamRun])[] = [];
    for (const event of events.slice(index, index + PROCESS_GROUP)) {
      runs.push([event, await playUntil(rig, `process-${event}`, event)]);
    }
    const open = await killProcess(rig, AGENCY, rig.server());
    answerAll(rig);
    await Promise.all(runs.map(([, { runId }]) => endHeld(rig, runId)));
    for (const [event, { runId, reader }] of runs) {
      await within(`end of the stream of event ${event}`, WAIT_MS, reader.over);
      const check = checkTeamRun(rig, runId, { frames: reader.frames, whole, onlyProcess: true });
      const { attempt } = await named(`process at event ${event}`, check);
      expectEqual(`attempts of event ${event}`, attempt, 1);
      const cut = TOOLS.filter((name) => open.has(callId(runId, name)));
      for (const name of cut) checkOpenCall(rig, callId(runId, name), !ONCE.includes(name), sums);
      sums.process_runs += 1;
    }
    sums.process_kills += 1;
    holdAll(rig);
  }
}

test('a run of several agents is completed after a kill at any event', async () => {
  const fault = plantedFault();
  const events = scale(SHORT.embedded, EVERY_EVENT);
  const tenth = scale(SHORT.tenth, EVERY_TENTH);
  const sums: Sums = { runs: 0, void_items: 0, exact_usage: 0 };
  const kills = noKills();
  if (fault === null || fault === 'repeat-calls') {
    await killProcesses(fault, scale(SHORT.processes, EVERY_EVENT), kills);
    expectAtLeast('calls whose outcome is unknown', kills.unknown_calls, 1);
    expectAtLeast('calls that were repeated', kills.repeated_calls, 1);
  }
  if (fault !== null) {
    await embedded({ fault, events, tenth: [] }, sums);
    return;
  }
  // Two processes keep two cores busy.
  const cuts = scale<Cuts[]>(
    [{ fault, events, tenth }],
    [
      { fault, events: events.filter((event) => event % 4 < 2), tenth },
      { fault, events: events.filter((event) => event % 4 >= 2), tenth: [] },
    ],
  );
  const lanes = cuts.map((one) => ['embedded', one] as const);
  await inLanes(lanes.length, lanes, (one) => embedded(one, sums));
  const nodeKills = await named('nodes', onNodes(scale(SHORT.nodes, EVERY_EVENT), tenth, sums));
  expectAtLeast('void items', sums.void_items, 1);
  expectAtLeast('runs with the usage of an uncut run', sums.exact_usage, tenth.length);
  expectEqual('runs', sums.runs, events.length + scale(SHORT.nodes, EVERY_EVENT).length + 2 * tenth.length);
  count({
    events: FRAMES,
    kills: events.length + nodeKills,
    cancelled: 2 * tenth.length,
    ...sums,
    ...kills,
    repeated: 0,
    called_twice: 0,
  });
});
