export { DEFAULT_DOCUMENT_LIMITS, type DocumentLimits } from './document-limits.ts';
export { DocumentReader, type Slots } from './document-reader.ts';
export type { FileContent, SourceFile } from './file-content.ts';
export { type ImageSize, imageSize } from './image-size.ts';
export { imageType } from './image-type.ts';
export { sniff } from './sniff.ts';
export type { StartChild } from './start-document-child.ts';
export { KIND_BYTES, type StoredKind, storedKind } from './stored-kind.ts';
export { Unreadable } from './unreadable.ts';
