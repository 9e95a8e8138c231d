/** The browser reads the link's bytes after the click. */
const KEEP_MS = 60_000;

/** Lets the browser save a file under this name. */
export function saveFile(content: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), KEEP_MS);
}
