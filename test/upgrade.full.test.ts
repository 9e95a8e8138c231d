import { test } from 'node:test';
import { type Frame, postgresFolder, Rig, SCRIPTED_USAGE, ServerProcess, SHORT_LEASE } from '@runwire/test-kit';
import { count, plantedFault, scale } from '@runwire/test-kit/scale.ts';
import { addTo, expectAtLeast, expectEqual, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import { type OldVersion, openOldVersion } from './support/old-version.ts';
import { checkStory } from './support/story.ts';
import { UpgradeLoad } from './support/upgrade-load.ts';

/*
 * Upgrades an installation from an earlier version to this one as docs/upgrade.md describes, under load: servers of
 * both versions work on one database for a while, and the older ones are stopped one after the other.
 */

/** Runs held on each server that is stopped: they are not done when its drain ends. */
const HELD = 2;
const PER_CALL = SCRIPTED_USAGE.inputTokens + SCRIPTED_USAGE.outputTokens;
const ALIVE = 0;
const RELEASED = 2;

interface Plan {
  readonly old: OldVersion;
  readonly fault: string | null;
  /** The old servers run beside all the new ones for a while, or each stops as soon as a new server answers. */
  readonly order: 'together' | 'in turn';
}

async function upgrade({ old, fault, order }: Plan) {
  // A held run never reaches a step's end. At full scale the drain waits for it as in production, 30 s.
  const limits = scale<object>({ ...SHORT_LEASE, handOverMs: 1000 }, {});
  await using rig = await Rig.open({ nodes: 0, fault, limits, env: { RUNWIRE_DRAIN_SECONDS: '2' } });
  const load = new UpgradeLoad(rig, scale(800, 200));
  const work = () => load.workFor(scale(6, 40));
  const ids = new Map<unknown, ServerProcess>();
  const held = new Map<ServerProcess, () => Promise<void>>();

  /** No living server was declared dead, and the servers that stopped released their runs themselves. */
  const checkNodes = async () => {
    const wrong = { open: 0, stopped: 0 };
    for (const { node_id: id, dead } of await rig.query('select node_id, dead from nodes')) {
      const server = ids.get(id);
      if (server === undefined) continue;
      if (rig.servers.includes(server)) wrong.open += Number(Number(dead) !== ALIVE);
      else wrong.stopped += Number(Number(dead) !== RELEASED);
    }
    expectEqual('living servers that were taken for dead', wrong.open, 0);
    expectEqual('servers that stopped in good order and were taken for dead', wrong.stopped, 0);
  };
  const start = async (isOld: boolean) => {
    const options = isOld ? { entry: old.entry, env: old.env, fault: null, isEarlier: true } : {};
    const server = await within(`start of a server, old: ${isOld}`, WAIT_MS, rig.add(options));
    if (isOld) load.old.add(server);
    const rows = await rig.query('select node_id as id from nodes order by started_at');
    for (const { id } of rows) if (!ids.has(id)) ids.set(id, server);
    return server;
  };
  const hold = async (server: ServerProcess) => held.set(server, await load.hold(server, HELD));
  /** Its drain ends with runs in progress, which continue elsewhere. */
  const stop = async (server: ServerProcess) => {
    await checkNodes();
    load.stopping.add(server);
    await within('stop in good order', WAIT_MS, server.kill('SIGTERM'));
    rig.servers.splice(rig.servers.indexOf(server), 1);
    await held.get(server)?.();
    await work();
  };

  const [one, two] = [await start(true), await start(true)];
  await load.start();
  for (const server of [one, two]) await hold(server);
  await work();
  await start(false);
  await work();
  if (order === 'in turn') await stop(one);
  const second = await start(false);
  await work();
  if (order === 'together') {
    // Longer than a lease of 3 s, or 8 s.
    await load.workFor(0, scale(5000, 30_000));
    if (scale(false, true)) {
      // A new server beside old ones stops and starts again: the old ones do not get its runs.
      await hold(second);
      await stop(second);
      await start(false);
    }
    await stop(one);
  }
  await stop(two);
  await load.end();
  await checkNodes();
  const counts = await checkRuns(rig, load);
  if (old.isOtherSchema) await checkRefusal(old, rig);
  return { ...load.tally, ...counts };
}

/** An earlier version wrote `messages` without `output` and `pending`. */
function asToday(frame: Frame): Frame {
  if (frame.event !== 'messages' || frame.data.includes(',"pending":[')) return frame;
  const output = frame.data.includes('],"output":') ? '' : ',"output":null';
  return { ...frame, data: frame.data.replace(/,"usage":(?=[^[\]]*,"files":)/, `${output},"pending":[],"usage":`) };
}

/** Every admitted request is one run, ended and charged once, no call was made twice, and there are no other runs. */
async function checkRuns(rig: Rig, { runs, tally }: UpgradeLoad) {
  const { model, gate } = rig;
  let handedOver = 0;
  for (const [runId, { body, frames }] of runs) {
    const { run } = await checkStory(rig, { integration: body.apiIntegrationId, runId, seen: frames.map(asToday) });
    expectEqual(`request of ${runId}`, run.usageRequestId, body.usageRequestId);
    const mayBeCancelled = body.message.startsWith('talk') && run.status === 'cancelled';
    if (mayBeCancelled) tally.cancelled += 1;
    else expectEqual(`end of ${runId}`, run.status, 'completed');
    if (run.attempt > 1) handedOver += 1;
    else if (run.status === 'completed') {
      const calls = model.calls.filter(({ request }) => request.runId === runId).length;
      expectEqual(`tokens of ${runId}`, run.usage.total_tokens, calls * PER_CALL);
    }
  }
  const rows = await rig.query('select crashes, charged_runs from runs');
  expectEqual('runs', rows.length, runs.size);
  const once = rows.filter((row) => Number(row.crashes) === 0 && Number(row.charged_runs) === 1);
  expectEqual('runs that did not crash and were charged once', once.length, rows.length);
  const wrong = await rig.query(`select * from
    (select integration_id, consumer_id, day, sum(charged_runs)::bigint as runs, sum(charged_tokens)::bigint as tokens
      from runs group by 1, 2, 3) r
    full join (select integration_id, consumer_id, day, runs::bigint, tokens::bigint from usage_days) d
      using (integration_id, consumer_id, day)
    where r.runs is distinct from d.runs or r.tokens is distinct from d.tokens`);
  expectEqual('day totals that are not the sum of what was charged', wrong, []);
  const tools = new Set(gate.calls.map(({ callId }) => callId)).size;
  return {
    runs: expectAtLeast('runs', rows.length, 21),
    // `checkStory` has found exactly one usage record for each run.
    usage_records: runs.size,
    handed_over: expectAtLeast('runs that continued elsewhere', handedOver, 2 * HELD),
    model_calls: model.calls.length,
    tool_calls: expectEqual('calls of tools', gate.calls.length, tools),
  };
}

/** The older version can no longer use the database. */
async function checkRefusal({ env, entry }: OldVersion, { databaseUrl, dataDir }: Rig): Promise<void> {
  const start = ServerProcess.start({ dataDir, env: { DATABASE_URL: databaseUrl, ...env }, entry });
  const said = await start.then(
    (server) => server.kill().then(() => 'it started'),
    (error: Error) => error.message,
  );
  const isRefused = said.includes('The database was made by a newer version of Runwire');
  expectEqual('start of the earlier version afterwards', isRefused ? 'refused' : said, 'refused');
}

test('an upgrade under load loses and repeats nothing', async (t) => {
  const fault = plantedFault();
  if (postgresFolder() === null) return t.skip('upgrade: PostgreSQL is not installed (apt-get install postgresql).');
  using old = openOldVersion();
  process.stdout.write(`from ${old.commit}${old.isOtherSchema ? '' : ', which has the same tables'}\n`);
  const orders = scale<readonly Plan['order'][]>(['together'], ['together', 'in turn']);
  const first = 'posts runs usage_records replays refused cancelled unavailable reattached';
  const sum = Object.fromEntries(`${first} handed_over model_calls tool_calls`.split(' ').map((key) => [key, 0]));
  for (const order of orders) addTo(sum, await upgrade({ order, old, fault }));
  expectAtLeast('cancelled runs', sum.cancelled ?? 0, 1);
  count({ upgrades: orders.length, ...sum });
});
