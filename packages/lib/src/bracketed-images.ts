/** An image as a text names it. */
interface NamedImage {
  readonly mediaType: string;
  readonly sizeBytes: number;
}

/** The text that replaces an image for a reader that gets none. */
export const imageInBrackets = ({ mediaType, sizeBytes }: NamedImage, why = ''): string =>
  `[image, ${mediaType}, ${sizeBytes} bytes${why}]`;

/** A tool's output for a reader that gets no images: they are named after the text, one per line. */
export function bracketedOutput(text: string, images: readonly NamedImage[] = []): string {
  return [...(text === '' ? [] : [text]), ...images.map((image) => imageInBrackets(image))].join('\n');
}
