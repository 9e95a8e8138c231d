/** RFC 8187, 3.2.1: the characters that need no percent-encoding. `encodeURIComponent` leaves four more unencoded. */
const encoded = (text: string) =>
  encodeURIComponent(text).replace(/['()*]/g, (found) => `%${found.charCodeAt(0).toString(16).toUpperCase()}`);

/**
 * RFC 6266: a download with this name. `filename` is for old clients: plain ASCII without characters that they might
 * read as a quote, an escape or a percent-encoding. All others read `filename*`.
 */
export function toAttachment(filename: string): string {
  const plain = filename.replace(/[^\x20-\x7e]|["%\\]/gu, '_');
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded(filename)}`;
}
