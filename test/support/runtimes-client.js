import { Runwire } from '@runwire/client';

/*
 * What every runtime does with the packed client. It uses nothing of Node: it also runs in workers and pages.
 */

/** Resolves to what the proof compares with the server. */
export async function exercise({ url, cutUrl, apiKey, integration, folder, name }) {
  const client = new Runwire({ baseUrl: url, apiKey, integration });
  const text = await client.run({ message: 'Hello' }).text();

  const cut = new Runwire({ baseUrl: cutUrl, apiKey, integration }).run({ message: 'Hello' });
  const ids = [];
  for await (const { id } of cut.frames()) if (id !== null) ids.push(id);
  const resumed = { text: await cut.text(), isInOrder: ids.every((id, index) => index === 0 || id > ids[index - 1]) };

  const bytes = Uint8Array.from({ length: 300_000 }, (_, index) => index % 251);
  let progressBytes = 0;
  const onProgress = ({ loadedBytes }) => {
    progressBytes = loadedBytes;
  };
  const { path } = await client.upload(new Blob([bytes]), { folder, name: `${name}.bin`, onProgress });

  const endless = client.run({ message: 'endless' });
  for await (const { type } of endless) if (type === 'text') break;
  await endless.cancel();
  const { status } = await endless.result();
  return { text, resumed, path, progressBytes, cancelled: { runId: endless.handle.runId, status } };
}
