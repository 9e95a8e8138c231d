import { pino } from 'pino';

export type Logger = Pick<pino.Logger, 'debug' | 'info' | 'warn' | 'error' | 'fatal'>;

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** One JSON object a line on standard error; standard output is for people. */
export function createLogger(level: LogLevel): pino.Logger {
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ dest: 2, sync: false }),
  );
}
