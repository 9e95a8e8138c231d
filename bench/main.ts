/**
 * With `--postgres` it measures one, two and three nodes on PostgreSQL, with `--against` it compares with another version,
 * with `growth` it measures a database with a long past, with `reruns` the first token of reruns, and with `--write-bounds` it
 * writes the guard's bounds. Otherwise it compares with the floors.
 */
const has = (name: string) => process.argv.slice(2).some((argument) => argument.split('=', 1)[0] === name);
if (has('--postgres')) await import('./on-postgres.ts');
else if (has('--write-bounds')) await import('./write-bounds.ts');
else if (has('growth')) await import('./growth.ts');
else if (has('reruns')) await import('./reruns.ts');
else await import(has('--against') ? './against-version.ts' : './against-floor.ts');
