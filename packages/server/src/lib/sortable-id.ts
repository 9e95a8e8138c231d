import { randomBytes } from 'node:crypto';

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const RANDOM_LENGTH = 13;

let pool = Buffer.alloc(0);
let poolOffset = 0;
let lastMs = 0;
let lastTimePart = '';
let sequence = 0;

function digits(value: number, length: number): string {
  let text = '';
  let rest = value;
  for (let i = 0; i < length; i += 1) {
    text = ALPHABET.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

/** The first ten characters of all ids that are made in this millisecond. */
export function timePart(ms: number): string {
  return digits(ms, 10);
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
    lastTimePart = digits(nowMs, 10);
    sequence = 0;
  } else {
    sequence += 1;
    if (sequence >= 32 ** 3) {
      lastMs += 1;
      lastTimePart = digits(lastMs, 10);
      sequence = 0;
    }
  }
  if (poolOffset + RANDOM_LENGTH > pool.length) {
    pool = randomBytes(RANDOM_LENGTH * 256);
    poolOffset = 0;
  }
  let random = '';
  for (let i = 0; i < RANDOM_LENGTH; i += 1) random += ALPHABET.charAt((pool[poolOffset + i] ?? 0) & 31);
  poolOffset += RANDOM_LENGTH;
  return lastTimePart + digits(sequence, 3) + random;
}
