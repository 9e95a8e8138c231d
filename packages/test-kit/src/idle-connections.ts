import { Agent, setGlobalDispatcher } from 'undici';

/**
 * `fetch` keeps an idle connection until shortly before the server closes it, after 75 s. The servers of tests are often in
 * the same process: if a test computes past both times, the next request uses a connection that the server is about
 * to close, and fails with ECONNRESET. So the connections of tests end early.
 */
setGlobalDispatcher(new Agent({ keepAliveMaxTimeout: 4_000 }));
