import type { Generated } from 'kysely';
import type { Role } from '../domain/account/role.ts';
import type { OwnerId, PersonId } from '../domain/ids.ts';

/** `email` and `name_json` repeat its first person's, for nodes from the version before; `email` is null without that person. */
export interface OwnersTable {
  owner_id: OwnerId;
  email: string | null;
  name_json: string | null;
  administrator: number;
  created_at: number;
}

/** People who sign in for an owner. */
export interface PeopleTable {
  /** The first person of an owner has the id of the owner. */
  person_id: PersonId;
  owner_id: OwnerId;
  email: string | null;
  name_json: string | null;
  role: Role;
  created_at: number;
  last_seen_at: number | null;
}

export interface ApiKeysTable {
  key_id: string;
  owner_id: OwnerId;
  name_json: string;
  role: Generated<Role>;
  /** The ids of the only integrations that the key reaches. Null: all of the owner. */
  integrations_json: string | null;
  /** The id of the person or key that made it. Null if `RUNWIRE_API_KEY`, a command or an earlier version did. */
  creator_id: string | null;
  /** Who made it, as it was then: `KeyCreator`. */
  creator_json: string | null;
  created_at: number;
  expires_at: number | null;
  last_used_at: number | null;
  revoked_at: number | null;
}

export interface PasswordsTable {
  /** A person. The column is older than people. */
  owner_id: PersonId;
  /** In the PHC string format: the algorithm, its parameters, the salt and the hash. */
  password_hash: string;
  changed_at: number;
}

/** The sessions of people who signed in to the console. A session that was ended has no row. */
export interface SessionsTable {
  session_id: string;
  /** A person. The column is older than people. */
  owner_id: PersonId;
  /** SHA-256 of the value of the cookie. */
  secret_hash: string;
  created_at: number;
  /** When the session last got a token, to the minute. */
  used_at: number;
}

/** The newest set-up link of a person. A link that was used has no row. */
export interface SetUpLinksTable {
  /** A person. The column is older than people. */
  owner_id: PersonId;
  /** SHA-256 of the secret in the link. */
  secret_hash: string;
  created_at: number;
  /** Null for the link that the first start prints: it is valid until it is used. */
  expires_at: number | null;
}

/** One row for the e-mail and one for the address of each sign-in that failed, or whose password is being checked. */
export interface SignInFailuresTable {
  failure_id: string;
  subject: string;
  failed_at: number;
}
