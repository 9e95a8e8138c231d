import { serveCode } from './process/serve-code.ts';

/** The process that runs the code of an agency. The server starts it and talks to it on the descriptor 3. */
serveCode(3);
