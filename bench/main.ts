/**
 * With `--postgres` it measures one, two and three nodes on PostgreSQL, with `--against <folder>` it compares with another
 * version, otherwise with the floor.
 */
const compares = process.argv.some((argument) => /^--against(=|$)/.test(argument));
if (process.argv.includes('--postgres')) await import('./on-postgres.ts');
else await import(compares ? './against-version.ts' : './against-floor.ts');
