import { askDatabase, CommitProxy, PostgresServer, Rig, type RigOptions, ThreeStepLoad } from '@runwire/test-kit';
import { Claims } from './claims.ts';

export const WHO = { apiIntegrationId: 'mine', consumerId: 'ann' };

export type DatabaseRig = Awaited<ReturnType<typeof startDatabaseRig>>;

/**
 * Servers on a private PostgreSQL, behind a proxy that can fail in the middle of a commit, and a metered integration
 * whose runs call a tool. `pauseMs`: how long each call of the model and of the tool takes.
 */
export async function startDatabaseRig(pauseMs: number, options: RigOptions, settings: Record<string, string> = {}) {
  await using building = new AsyncDisposableStack();
  const postgres = building.use(await PostgresServer.start(settings));
  const proxy = building.use(await CommitProxy.start(postgres.port));
  const direct = await postgres.database();
  const databaseUrl = direct.replace(`:${postgres.port}/`, `:${proxy.port}/`);
  const rig = building.use(await Rig.start({ ...options, databaseUrl }));
  const load = new ThreeStepLoad(rig, pauseMs);
  const allowances = { unit: 'tokens', limit: 100_000_000, period: 'lifetime' };
  await rig.prepare({ apiIntegrationId: WHO.apiIntegrationId, agency: 'gate', allowances }, WHO.consumerId);
  const query = (text: string, values: readonly unknown[] = []) => askDatabase(direct, text, values);
  const stack = building.move();
  return {
    postgres,
    proxy,
    rig,
    load,
    /** Asks the database itself, not through the proxy. */
    query,
    /** The answer to every caller. */
    claims: new Claims(),
    /** Throws if an answer said `true` without a run, or `false` although there is one. */
    checkClaims(prefix = '') {
      const ids = async () => (await query('select usage_request_id as id from runs')).map(({ id }) => id);
      return this.claims.check(prefix, async () => new Set(await ids()));
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
