import { pino } from 'pino';

type LogMethod = 'debug' | 'info' | 'warn' | 'error' | 'fatal';

export type Logger = Readonly<Record<LogMethod, (fields: object, message: string) => void>>;

/** A logger that adds these fields to every line. Unlike a child of pino, it serialises nothing before a line is written. */
export function withFields(logger: Logger, fields: object): Logger {
  const add = (method: LogMethod) => (more: object, message: string) => logger[method]({ ...more, ...fields }, message);
  return { debug: add('debug'), info: add('info'), warn: add('warn'), error: add('error'), fatal: add('fatal') };
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** One JSON object a line on standard error; standard output is for people. */
export function createLogger(level: LogLevel): pino.Logger {
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ dest: 2, sync: false }),
  );
}
