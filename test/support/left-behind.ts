import { hookStore, type ModelController, type Store, scriptedModel, startTestServer } from '@runwire/test-kit';

type Rows = <R>(statement: string, params: unknown, rows: R[], inside: boolean) => Promise<R[]>;

/** A store whose reads go through `rows`, inside transactions and outside. */
export function reading(rows: Rows): (store: Store) => Store {
  return hookStore({
    read: async (statement, read, params) => rows(statement, params, await read(), false),
    readInside: async (statement, read, params) => rows(statement, params, await read(), true),
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
