import { serveCode } from './process/serve-code.ts';

/** The process that runs an agency's code. The server starts it and talks to it on the descriptor 3. */
serveCode(3);
