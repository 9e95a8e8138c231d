import { randomBytes } from 'node:crypto';

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const RANDOM_LENGTH = 13;

const TIME_LENGTH = 10;
const COUNT_LENGTH = 3;

let pool = Buffer.alloc(0);
let poolOffset = 0;
let lastMs = 0;
let sequence = 0;
/** The last id's characters. The next one is written over them, so that an id makes one string. */
const characters = Buffer.alloc(TIME_LENGTH + COUNT_LENGTH + RANDOM_LENGTH);

function writeDigits(target: Buffer, value: number, start: number, length: number): void {
  let rest = value;
  for (let i = start + length - 1; i >= start; i -= 1) {
    target[i] = ALPHABET.charCodeAt(rest % 32);
    rest = Math.floor(rest / 32);
  }
}

/** The first ten characters of all ids that are made in this millisecond. */
export function timePart(ms: number): string {
  const part = Buffer.alloc(TIME_LENGTH);
  writeDigits(part, ms, 0, TIME_LENGTH);
  return part.toString('latin1');
}

/** Returns the millisecond in which an id was made, given its first ten characters. */
export function readTimePart(part: string): number {
  let ms = 0;
  for (const character of part) ms = ms * 32 + ALPHABET.indexOf(character);
  return ms;
}

/**
 * Makes an id of 26 characters: ten for the millisecond, three for a count within it, thirteen (65 bits) at random. Ids
 * of one process sort in the order of their creation, so "newest first" is exact and index pages fill from one end.
 */
export function sortableId(nowMs: number = Date.now()): string {
  if (nowMs > lastMs) {
    lastMs = nowMs;
    writeDigits(characters, nowMs, 0, TIME_LENGTH);
    sequence = 0;
  } else {
    sequence += 1;
    if (sequence >= 32 ** 3) {
      lastMs += 1;
      writeDigits(characters, lastMs, 0, TIME_LENGTH);
      sequence = 0;
    }
  }
  if (poolOffset + RANDOM_LENGTH > pool.length) {
    pool = randomBytes(RANDOM_LENGTH * 256);
    poolOffset = 0;
  }
  for (let i = 0; i < RANDOM_LENGTH; i += 1) {
    characters[TIME_LENGTH + COUNT_LENGTH + i] = ALPHABET.charCodeAt((pool[poolOffset + i] ?? 0) & 31);
  }
  poolOffset += RANDOM_LENGTH;
  writeDigits(characters, sequence, TIME_LENGTH, COUNT_LENGTH);
  return characters.toString('latin1');
}
