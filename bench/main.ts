/** With `--postgres` it measures one, two and three nodes on PostgreSQL, otherwise it compares with the floor. */
if (process.argv.includes('--postgres')) await import('./on-postgres.ts');
else await import('./against-floor.ts');
