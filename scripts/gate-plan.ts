/** The gate's steps in their order, with about how many seconds each takes on a machine with 4 cores. */
const SECONDS = {
  'lock file': 3,
  types: 10,
  console: 15,
  style: 3,
  'contract pages': 1,
  'contract types': 2,
  openapi: 3,
  'openapi lint': 4,
  build: 10,
  tests: 240,
  requirements: 1,
} as const;

export type GateStep = keyof typeof SECONDS;

/** What the gate is about to do, in one line. */
export function gatePlan(): string {
  const steps = Object.entries(SECONDS).map(([name, seconds]) => `${name} (${seconds} s)`);
  const sum = Object.values(SECONDS).reduce((all, seconds) => all + seconds, 0);
  return `check: ${steps.join(', ')}: about ${Math.ceil(sum / 60)} minutes on 4 cores, longer on fewer\n`;
}
