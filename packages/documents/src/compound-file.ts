/** A compound file is the container of Office before 2007. Its streams' names are UTF-16. */
const has = (bytes: Buffer, name: string) => bytes.includes(Buffer.from(name, 'utf16le'));

/** Returns why a compound file cannot be read. Since 2007 an encrypted DOCX or XLSX is also a compound file. */
export function whyNoCompoundFile(bytes: Uint8Array): string {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (has(file, 'EncryptedPackage')) return 'is encrypted; attach it without a password';
  if (has(file, 'WordDocument'))
    return 'is in the old Word format (.doc), which is not supported; save it as DOCX or PDF and attach that';
  if (has(file, 'Workbook') || has(file, 'Book')) {
    return 'is in the old Excel format (.xls), which is not supported; save it as XLSX and attach that';
  }
  if (has(file, 'PowerPoint Document')) {
    return 'is in the old PowerPoint format (.ppt), which is not supported; save it as PDF and attach that';
  }
  return 'is in an old Office format, which is not supported; save it as DOCX, XLSX or PDF and attach that';
}
