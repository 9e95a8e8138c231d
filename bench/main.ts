/** `--postgres`: on PostgreSQL, by one, two and three nodes. Otherwise: against the floor. */
if (process.argv.includes('--postgres')) await import('./on-postgres.ts');
else await import('./against-floor.ts');
