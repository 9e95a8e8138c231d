import { storeConformance } from '../../testing/store-conformance.ts';
import { freshDatabase } from '../../testing/test-store.ts';
import { PostgresStore } from './postgres-store.ts';

storeConformance('postgres', async () => {
  const database = await freshDatabase();
  return {
    open: () => PostgresStore.open({ url: database.url, pool: 4, pooled: false, migrate: true, waitAt: undefined }),
    cleanUp: () => database[Symbol.asyncDispose](),
  };
});
