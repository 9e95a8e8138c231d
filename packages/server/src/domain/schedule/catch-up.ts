/** Which ticks run later if they passed while no node ran. */
export type CatchUp = 'latest' | 'none' | 'all';

/** The most ticks that `all` makes up for. */
export const MAX_CAUGHT_UP = 24;

/** An older tick counts as missed: a takeover between nodes takes 15 s. */
export const MISSED_AFTER_MS = 60_000;
