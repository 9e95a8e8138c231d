import { type ModelController, type Store, scriptedModel, startTestServer, type Tx } from '@runwire/test-kit';

type Rows = <R>(statement: string, params: unknown, rows: R[], inside: boolean) => Promise<R[]>;

/** A store whose reads go through `rows`, inside transactions and outside. */
export function reading(rows: Rows): (store: Store) => Store {
  return (store) => ({
    kind: store.kind,
    reads: {
      all: async (statement, params) => rows(statement.name, params, await store.reads.all(statement, params), false),
      query: (build) => store.reads.query(build),
    },
    transact: (name, job) =>
      store.transact(name, (tx) => {
        const read: Tx = {
          all: async (statement, params) => rows(statement.name, params, await tx.all(statement, params), true),
          query: (build) => tx.query(build),
          run: (statement, params) => tx.run(statement, params),
        };
        return job(read);
      }),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  });
}

/** Runs whose server stops before they have ended, in a chat each. */
export async function leaveBehind(
  controller: ModelController,
  chats: readonly string[],
  options: object,
): Promise<string[]> {
  const runIds: string[] = [];
  await using server = await startTestServer({ ...options, model: scriptedModel(controller.port) });
  for (const chatId of chats) {
    const reader = await server.api.complete({ chatId, usageRequestId: chatId });
    runIds.push(String(reader.headers['x-run-id']));
    const call = await controller.nextCall();
    await call.text('Begun');
    await reader.untilText('Begun');
  }
  return runIds;
}
