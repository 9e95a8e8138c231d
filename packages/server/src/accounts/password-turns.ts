import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { Refusal } from '../domain/refusal.ts';

const argon2Hash = promisify(argon2);

/** What a new hash costs. Its parameters are stored with it. */
export interface HashCost {
  readonly memory: number;
  readonly passes: number;
}

/** One hash takes 19 MiB and about 0.1 s of a CPU. */
const HASH_COST: HashCost = { memory: 19 * 1024, passes: 2 };
const TAG_BYTES = 32;
const SALT_BYTES = 16;
const MAX_CONCURRENT = 2;
/** More would wait longer than people do. */
const MAX_WAITING = 100;

const MIN_CHARACTERS = 12;
const MAX_CHARACTERS = 1024;
const MIN_DIFFERENT = 8;

interface StoredHash extends HashCost {
  readonly salt: Buffer;
  readonly tag: Buffer;
}

/** The functions that a turn gets. It must call them one after the other. */
export interface Hashing {
  /** Returns the hash with its parameters and its salt, as PHC strings have them. */
  hash(password: string): Promise<string>;
  /** `stored` is null if there is no password. It takes the same time then, so that a guesser does not learn it. */
  verify(password: string, stored: string | null): Promise<boolean>;
}

/**
 * Lets two jobs with argon2id hashes run concurrently on this node; the others wait in their order. The jobs contain the
 * transactions of a sign-in too: a flood of sign-ins must not take all connections of the database.
 */
export class PasswordTurns {
  readonly #hashing: Hashing;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(cost = HASH_COST) {
    this.#hashing = { hash: (password) => hash(password, cost), verify: (...given) => verify(cost, ...given) };
  }

  /** Throws a `Refusal` if so many jobs wait that another one would take too long. */
  async run<T>(job: (hashing: Hashing) => Promise<T>): Promise<T> {
    if (this.#running < MAX_CONCURRENT) this.#running += 1;
    else await this.#wait();
    try {
      return await job(this.#hashing);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }

  #wait(): Promise<void> {
    if (this.#waiting.length >= MAX_WAITING) {
      throw new Refusal('unavailable', 'Too many people are signing in; try again in a moment.', {}, 1);
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}

/** Throws a `Refusal` if the password is too short, too long, too uniform, or the e-mail itself. */
export function checkPassword(password: string, email: string): void {
  const characters = [...password];
  const { length } = characters;
  const isUniform = new Set(characters).size < MIN_DIFFERENT;
  if (length < MIN_CHARACTERS || length > MAX_CHARACTERS || isUniform || password.trim().toLowerCase() === email) {
    throw new Refusal('weak_password');
  }
}

async function hash(password: string, { memory, passes }: HashCost): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const tag = await getTag(password, { memory, passes, salt });
  return `$argon2id$v=19$m=${memory},t=${passes},p=1$${base64(salt)}$${base64(tag)}`;
}

async function verify(cost: HashCost, password: string, stored: string | null): Promise<boolean> {
  const { tag, ...parameters } = stored === null ? nothing(cost) : parse(stored);
  return timingSafeEqual(await getTag(password, parameters), tag) && stored !== null;
}

function getTag(password: string, { memory, passes, salt }: Omit<StoredHash, 'tag'>): Promise<Buffer> {
  // Keyboards write the same letters in different forms.
  const message = password.normalize('NFKC');
  return argon2Hash('argon2id', { message, nonce: salt, parallelism: 1, tagLength: TAG_BYTES, memory, passes });
}

const base64 = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');

const nothing = (cost: HashCost): StoredHash => ({
  ...cost,
  salt: randomBytes(SALT_BYTES),
  tag: Buffer.alloc(TAG_BYTES),
});

function parse(stored: string): StoredHash {
  const [, memory, passes, salt = '', tag = ''] =
    /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=1\$([\w+/]+)\$([\w+/]+)$/.exec(stored) ?? [];
  if (memory === undefined) throw new Error('The store has a password hash that this version cannot read.');
  const bytes = (text: string) => Buffer.from(text, 'base64');
  return { memory: Number(memory), passes: Number(passes), salt: bytes(salt), tag: bytes(tag) };
}
