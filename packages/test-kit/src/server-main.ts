import { runServerProcess } from './server-process.ts';

await runServerProcess((fault) => {
  throw new Error(`There is no fault \`${fault}\` here.`);
});
