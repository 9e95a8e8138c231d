import { Authentication } from '@runwire/server/src/accounts/authenticate.ts';
import type { Overrides } from '@runwire/server/src/compose/overrides.ts';
import type { Principal } from '@runwire/server/src/domain/account/principal.ts';
import { insertAuditEvent } from '@runwire/server/src/store/queries/audit.ts';
import type { Store } from '@runwire/server/src/store/store.ts';
import { around } from './tampered-store.ts';

/** A caller keeps the role with which its token was first seen. */
function roleFromToken(): Overrides {
  const roles = new Map<string, Principal['role']>();
  const { authenticate } = Authentication.prototype;
  Authentication.prototype.authenticate = async function (this: Authentication, bearer) {
    const caller = await authenticate.call(this, bearer);
    const role = roles.get(bearer) ?? caller.principal.role;
    roles.set(bearer, role);
    return { ...caller, principal: { ...caller.principal, role } };
  };
  return {};
}

/** The event of a change is stored in a transaction of its own, after the change. */
const auditAfterCommit = (): Overrides => ({
  wrapStore: around((transact): Store['transact'] => async (name, job, locks) => {
    const events: unknown[] = [];
    const result = await transact(
      name,
      (tx) =>
        job({
          all: (statement, params) => tx.all(statement, params),
          query: (build) => tx.query(build),
          run: async (statement, params) => {
            if (statement.name !== insertAuditEvent.name) return tx.run(statement, params);
            events.push(params);
            return 1;
          },
        }),
      locks,
    );
    for (const event of events) await transact(name, (tx) => tx.run(insertAuditEvent, event as never));
    return result;
  }),
});

export const ROLE_FAULTS = { 'role-from-token': roleFromToken, 'audit-after-commit': auditAfterCommit };
