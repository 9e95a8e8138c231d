import { hash, timingSafeEqual } from 'node:crypto';
import { LruCache } from '@runwire/lib/lru-cache.ts';
import type { Caller, ClientToken } from '../domain/account/caller.ts';
import type { Principal } from '../domain/account/principal.ts';
import { includesRole, MINTING_ROLE } from '../domain/account/role.ts';
import { Refusal } from '../domain/refusal.ts';
import { firstOwner, keyById, memberState, type OwnerRow, ownerById, touchKey } from '../store/queries/accounts.ts';
import { sessionById } from '../store/queries/sign-in.ts';
import { first, type Reads, runAlone, type Store } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { AccountCache } from './account-cache.ts';
import type { AccountChanges } from './accounts-version.ts';
import { type ClientTokenSigning, isClientToken } from './client-token-signing.ts';
import { type ConsoleTokenSigning, isConsoleToken } from './console-token-signing.ts';
import { parseIntegrations } from './key-integrations.ts';
import type { KeyClaims, KeySigning } from './key-signing.ts';
import { isLive, isSessionId, SESSION_MS } from './session-life.ts';
import type { TokenProblem } from './token-signing.ts';

type TokenCaller = Caller & { readonly clientToken: ClientToken };
/** `expiresAt` is the token's end. The session, which is the principal's key, lasts longer. */
type ConsoleCaller = Caller & { readonly expiresAt: number };

const LAST_USE_EVERY_MS = 60_000;
/** A client token takes at most 8 kB, so all of them take at most 16 MB. */
const MAX_VERIFIED_TOKENS = 2000;

export interface AuthenticationDeps {
  readonly store: Store;
  /** Reads with a time limit, because a request waits for them. */
  readonly reads: Reads;
  readonly signing: KeySigning;
  readonly clientSigning: ClientTokenSigning;
  readonly consoleSigning: ConsoleTokenSigning;
  readonly opaqueKeyHash: Buffer | null;
  readonly changes: AccountChanges;
  readonly maxVerified: number;
  readonly logger: Logger;
}

type KeyProblem = TokenProblem | 'revoked';

const SENTENCES: Readonly<Record<KeyProblem, string>> = {
  malformed: 'The API key is malformed; copy the complete key and send it as `Authorization: Bearer <key>`.',
  expired: 'The API key has expired; create a new one.',
  revoked: 'The API key was revoked; use another key of the same owner.',
  invalid: 'The API key is not valid; send a key of this server as `Authorization: Bearer <key>`.',
};

export const keyRefused = (problem: KeyProblem) => new Refusal('invalid_api_key', SENTENCES[problem]);

const TOKEN_SENTENCES: Readonly<Record<TokenProblem | 'key' | 'session' | 'role' | 'member' | 'recreated', string>> = {
  malformed: 'The client token is malformed; send the complete token as `Authorization: Bearer <token>`.',
  expired: 'The client token has expired; get a new one from your backend.',
  invalid: 'The client token is not valid; get one of this server from your backend.',
  key: 'The API key that minted this client token was revoked or has expired; mint a new token with another key.',
  session: 'The console session that minted this client token has ended; sign in again and mint a new token.',
  role: 'Who minted this client token may not mint tokens any more; mint a new token with another key.',
  member: 'The member of this client token is not registered or not active; the token can be used while it is.',
  recreated: 'The member of this client token was deleted and created again; get a new token from your backend.',
};

const tokenRefused = (problem: keyof typeof TOKEN_SENTENCES) =>
  new Refusal('invalid_api_key', TOKEN_SENTENCES[problem]);

const CONSOLE_SENTENCES: Readonly<Record<TokenProblem | 'ended', string>> = {
  malformed: 'The console token is malformed; send the complete token as `Authorization: Bearer <token>`.',
  expired: 'The console token has expired; get a new one with POST /console/token.',
  invalid: 'The console token is not valid; get one with POST /console/token.',
  ended: 'The session of this console token has ended; sign in again.',
};

export const consoleRefused = (problem: keyof typeof CONSOLE_SENTENCES) =>
  new Refusal('invalid_api_key', CONSOLE_SENTENCES[problem]);

/**
 * Turns a bearer token into its caller. A verified token is remembered by its hash (2 µs instead of 70) until accounts
 * change, the revocation of its key and the end of its session included. Client tokens and console tokens have their own
 * caches, so that they do not displace keys.
 */
export class Authentication {
  readonly #store: Store;
  readonly #reads: Reads;
  readonly #signing: KeySigning;
  readonly #opaqueKeyHash: Buffer | null;
  readonly #logger: Logger;
  readonly #clientSigning: ClientTokenSigning;
  readonly #consoleSigning: ConsoleTokenSigning;
  readonly #verified: AccountCache<Caller>;
  readonly #verifiedTokens: AccountCache<TokenCaller>;
  readonly #verifiedConsole: AccountCache<ConsoleCaller>;
  readonly #touchedAt: LruCache<string, number>;

  constructor(deps: AuthenticationDeps) {
    this.#store = deps.store;
    this.#reads = deps.reads;
    this.#signing = deps.signing;
    this.#clientSigning = deps.clientSigning;
    this.#consoleSigning = deps.consoleSigning;
    this.#opaqueKeyHash = deps.opaqueKeyHash;
    this.#logger = deps.logger;
    this.#verified = deps.changes.cache(deps.maxVerified);
    this.#verifiedTokens = deps.changes.cache(MAX_VERIFIED_TOKENS);
    this.#verifiedConsole = deps.changes.cache(MAX_VERIFIED_TOKENS);
    this.#touchedAt = new LruCache(deps.maxVerified);
  }

  /** Throws a `Refusal` that tells whether the key or token is malformed, expired, revoked or invalid. */
  authenticate(bearer: string): Promise<Caller> {
    if (isClientToken(bearer)) return this.#authenticateToken(bearer);
    return isConsoleToken(bearer) ? this.#authenticateConsole(bearer) : this.#authenticateKey(bearer);
  }

  async #authenticateKey(token: string): Promise<Caller> {
    const now = Date.now();
    const verified = await this.#verified.get(hash('sha256', token, 'base64'), () => this.#verify(token, now));
    const { keyId, expiresAt } = verified.principal.key;
    if (expiresAt !== null && expiresAt <= now) throw keyRefused('expired');
    if (keyId !== null && now - (this.#touchedAt.get(keyId) ?? 0) > LAST_USE_EVERY_MS) {
      this.#touchedAt.set(keyId, now);
      runAlone(this.#store, touchKey, { keyId, now }).catch((error: unknown) =>
        this.#logger.warn({ err: error, keyId }, 'the last use of a key could not be stored'),
      );
    }
    return verified;
  }

  async #authenticateConsole(bearer: string): Promise<Caller> {
    const now = Date.now();
    const verified = await this.#verifiedConsole.get(hash('sha256', bearer, 'base64'), () =>
      this.#verifyConsole(bearer, now),
    );
    if (verified.expiresAt <= now) throw consoleRefused('expired');
    return verified;
  }

  async #verifyConsole(bearer: string, now: number): Promise<ConsoleCaller> {
    const claims = await this.#consoleSigning.verify(bearer);
    if (typeof claims === 'string') throw consoleRefused(claims);
    const { ownerId, sessionId, expiresAt } = claims;
    const principal = await this.#personOfSession(ownerId, sessionId, now);
    if (principal === null) throw consoleRefused('ended');
    return { principal, clientToken: null, expiresAt };
  }

  /** The member is read for every request, because a change of a member does not clear the caches. */
  async #authenticateToken(bearer: string): Promise<Caller> {
    const now = Date.now();
    const verified = await this.#verifiedTokens.get(hash('sha256', bearer, 'base64'), () =>
      this.#verifyToken(bearer, now),
    );
    const { principal, clientToken } = verified;
    if (clientToken.expiresAt <= now) throw tokenRefused('expired');
    if (principal.key.expiresAt !== null && principal.key.expiresAt <= now) throw tokenRefused('key');
    const { integrationId, consumerId, memberKey } = clientToken;
    const member = await first(this.#reads.all(memberState, { integrationId, consumerId }));
    if (member?.active !== 1) throw tokenRefused('member');
    if (memberKey !== null && memberKey !== member.sort_key) throw tokenRefused('recreated');
    return verified;
  }

  async #verifyToken(bearer: string, now: number): Promise<TokenCaller> {
    const claims = await this.#clientSigning.verify(bearer);
    if (typeof claims === 'string') throw tokenRefused(claims);
    const { ownerId, keyId, token } = claims;
    const principal = await this.#minter(ownerId, keyId, now);
    if (!includesRole(principal.role, MINTING_ROLE)) throw tokenRefused('role');
    return { principal, clientToken: token };
  }

  /** The key or the session that minted a client token. */
  async #minter(ownerId: string, keyId: string | null, now: number): Promise<Principal> {
    if (keyId !== null && isSessionId(keyId)) {
      const principal = await this.#personOfSession(ownerId, keyId, now);
      if (principal === null) throw tokenRefused('session');
      return principal;
    }
    const principal = keyId === null ? await this.#opaqueOwner() : await this.#getOwner({ ownerId, keyId }, now);
    if (typeof principal === 'string' || principal.ownerId !== ownerId) throw tokenRefused('key');
    return principal;
  }

  async #verify(token: string, now: number): Promise<Caller> {
    const isOpaque = this.#opaqueKeyHash !== null && timingSafeEqual(opaqueHash(token), this.#opaqueKeyHash);
    const principal = isOpaque ? await this.#opaqueOwner() : await this.#verifyKey(token, now);
    if (typeof principal === 'string') throw keyRefused(principal);
    return { principal, clientToken: null };
  }

  async #verifyKey(token: string, now: number): Promise<Principal | KeyProblem> {
    const claims = await this.#signing.verify(token);
    return typeof claims === 'string' ? claims : this.#getOwner(claims, now);
  }

  async #opaqueOwner(): Promise<Principal | KeyProblem> {
    const owner = await first(this.#reads.all(firstOwner, {}));
    if (owner === undefined) return 'invalid';
    return { ...ownerFields(owner), ...ALL_RIGHTS, key: { keyId: null, name: 'RUNWIRE_API_KEY', expiresAt: null } };
  }

  /** Returns a session's person, with the session as the key; null if the session has ended. */
  async #personOfSession(ownerId: string, sessionId: string, now: number): Promise<Principal | null> {
    const session = await first(this.#reads.all(sessionById, { sessionId }));
    if (session === undefined || session.owner_id !== ownerId || !isLive(session, now)) return null;
    const owner = await first(this.#reads.all(ownerById, { ownerId }));
    if (owner === undefined) return null;
    const { person_id: personId, email, role } = session;
    return {
      ...ownerFields(owner),
      person: { personId, email, name: parseName(session.name_json) },
      role,
      integrations: null,
      key: { keyId: sessionId, name: 'console', expiresAt: session.created_at + SESSION_MS },
    };
  }

  /** Returns the owner of a stored key that can still be used. */
  async #getOwner({ ownerId, keyId }: KeyClaims, now: number): Promise<Principal | KeyProblem> {
    const reads = this.#reads;
    const key = await first(reads.all(keyById, { keyId }));
    if (key === undefined || key.owner_id !== ownerId) return 'invalid';
    if (key.revoked_at !== null) return 'revoked';
    if (key.expires_at !== null && key.expires_at <= now) return 'expired';
    const owner = await first(reads.all(ownerById, { ownerId }));
    if (owner === undefined) return 'invalid';
    return {
      ...ownerFields(owner),
      person: null,
      role: key.role,
      integrations: parseIntegrations(key),
      key: { keyId: key.key_id, name: JSON.parse(key.name_json) as string, expiresAt: key.expires_at },
    };
  }
}

export function opaqueHash(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

const ALL_RIGHTS = { person: null, role: 'manager', integrations: null } as const;

const parseName = (json: string | null) => (json === null ? null : (JSON.parse(json) as string));

function ownerFields(owner: OwnerRow) {
  return {
    ownerId: owner.owner_id,
    administrator: owner.administrator === 1,
    email: owner.email,
    name: parseName(owner.name_json),
  };
}
