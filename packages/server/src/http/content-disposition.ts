/** RFC 8187, 3.2.1: what needs no percent; `encodeURIComponent` leaves four more as they are. */
const encoded = (text: string) =>
  encodeURIComponent(text).replace(/['()*]/g, (found) => `%${found.charCodeAt(0).toString(16).toUpperCase()}`);

/**
 * RFC 6266: a download of this name. What old clients read is plain ASCII without what they might take for a quote, an
 * escape or a percent-encoding; all others read `filename*`.
 */
export function attachmentOf(filename: string): string {
  const plain = filename.replace(/[^\x20-\x7e]|["%\\]/gu, '_');
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded(filename)}`;
}
